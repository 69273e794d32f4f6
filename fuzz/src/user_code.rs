//! A user's algorithms that answer with whatever the input says, through the checks of the boundary.

use std::collections::BTreeSet;

use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck};
use ccperf_engine::host::tcp::rate::AckSample;
use ccperf_engine::host::tcp::{CongState, Tcb};
use ccperf_engine::host::user::{Setup, UserCode, fail};
use ccperf_engine::net::qdisc::Qdisc;
use ccperf_engine::net::routing::balance::{Balancer, SwitchContext};
use ccperf_engine::run::simulate::Simulation;
use ccperf_plugin::abi::{Packet, Queue, TcbView};
use ccperf_plugin::{Adapter, QueueDisc, window};
use ccperf_scenario::Canonical;

use crate::script::Script;

/// Both algorithms of a short run are the user's: it runs, or the user's code is said to have failed.
pub fn user_code(data: &[u8]) {
    let scenario = include_str!("../scenarios/user_code.json");
    let scenario = Canonical::from_json(scenario).expect("is legal").lower();
    let user = Box::new(Scripted(Script::new(data)));
    if let Ok(mut simulation) = Simulation::with_user_code(scenario, None, user) {
        crate::first_events(&mut simulation);
    }
}

#[derive(Debug)]
struct Scripted(Script);

impl UserCode for Scripted {
    fn congestion_control(&self, _: Setup<'_>) -> Result<Control, String> {
        let mut script = self.0.clone();
        let is_rate_control = script.byte() % 2 == 1;
        let algorithm = ScriptedCca(script);
        Ok(if is_rate_control { Control::rate(algorithm) } else { algorithm.into() })
    }

    fn queue_disc(&self, _: Setup<'_>) -> Result<Box<dyn Qdisc>, String> {
        let inner = ScriptedQdisc { script: self.0.clone(), held: BTreeSet::new() };
        Ok(Box::new(Adapter::new("scripted", inner)))
    }

    fn load_balancer(
        &self,
        _: Setup<'_>,
        _: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String> {
        Err("the scenario has one way between two nodes".to_owned())
    }
}

#[derive(Debug)]
struct ScriptedCca(Script);

impl ScriptedCca {
    /// Changes some of what an algorithm may change, as a library would.
    fn change(&mut self, tcb: &mut Tcb) {
        let mut view = TcbView::of(tcb);
        let what = self.0.byte();
        if what & 1 != 0 {
            view.cwnd = self.0.number();
        }
        if what & 2 != 0 {
            view.ssthresh = self.0.number();
        }
        if what & 4 != 0 {
            view.pacing_rate_bps = self.0.number();
        }
        if what & 8 != 0 {
            view.pacing = self.0.byte().into();
            view.pacing_ss_ratio = self.0.number() as i32;
            view.pacing_ca_ratio = self.0.number() as i32;
        }
        if what & 16 != 0 {
            view.use_ecn = (self.0.byte() % 4).into();
            view.ecn_mode = (self.0.byte() % 3).into();
            view.ecn_state = (self.0.byte() % 7).into();
            view.ect = (self.0.byte() % 5).into();
        }
        if let Err(message) = view.store(tcb) {
            fail("scripted", message);
        }
    }
}

impl CongestionControl for ScriptedCca {
    fn init(&mut self, tcb: &mut Tcb) {
        self.change(tcb);
    }

    fn ssthresh(&mut self, tcb: &Tcb, _: u32) -> u32 {
        window("ssthresh", self.0.number(), tcb.segment_size)
            .unwrap_or_else(|message| fail("scripted", message))
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, _: u32) {
        self.change(tcb);
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, _: u32, _: Time) {
        self.change(tcb);
    }

    fn set_state(&mut self, tcb: &mut Tcb, _: CongState) {
        self.change(tcb);
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, _: CaEvent) -> Option<EarlyAck> {
        self.change(tcb);
        let ack = tcb.next_rx_seq;
        (self.0.byte() == 255).then_some(EarlyAck { ack, ece: true })
    }

    fn cong_control(&mut self, tcb: &mut Tcb, _: AckSample<'_>) {
        self.change(tcb);
    }

    fn on_ack(&mut self, tcb: &mut Tcb, _: AckSample<'_>) {
        self.change(tcb);
    }

    fn on_sent(&mut self, tcb: &mut Tcb, _: u32, _: bool) {
        self.change(tcb);
    }

    fn on_loss(&mut self, tcb: &mut Tcb, _: u32) {
        self.change(tcb);
    }
}

/// Keeps, marks, drops and returns packets at random, now and then one that it has not got.
#[derive(Debug)]
struct ScriptedQdisc {
    script: Script,
    held: BTreeSet<u32>,
}

impl ScriptedQdisc {
    fn some_packet(&mut self) -> Option<u32> {
        if self.script.byte() == 255 {
            return Some(self.script.number() as u32);
        }
        let place = usize::from(self.script.byte()) % self.held.len().max(1);
        self.held.iter().nth(place).copied()
    }

    fn touch(&mut self, queue: &mut Queue) {
        let what = self.script.byte();
        if what & 3 == 3
            && let Some(id) = self.some_packet()
        {
            queue.mark(id, "Scripted mark");
        }
        if what & 12 == 12
            && let Some(id) = self.some_packet()
        {
            queue.drop_packet(id, "Scripted drop");
            self.held.remove(&id);
        }
        if what & 48 == 48 {
            queue.set_timer(Time(self.script.number() as u64), what.into());
        }
    }
}

impl QueueDisc for ScriptedQdisc {
    fn enqueue(&mut self, packet: &Packet, queue: &mut Queue) -> bool {
        self.touch(queue);
        let keeps = self.script.byte() > 31;
        if keeps {
            self.held.insert(packet.id);
        }
        keeps
    }

    fn dequeue(&mut self, queue: &mut Queue) -> Option<u32> {
        self.touch(queue);
        let id = self.some_packet()?;
        self.held.remove(&id);
        Some(id)
    }

    fn timer(&mut self, _: u32, queue: &mut Queue) -> bool {
        self.touch(queue);
        self.script.byte() > 127
    }
}
