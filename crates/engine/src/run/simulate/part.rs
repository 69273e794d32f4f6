//! A simulation that is one part of a network, beside others that run at the same time.

use ccperf_schema::lowered::Lowered;

use super::Simulation;
use crate::base::error::Error;
use crate::base::event::Key;
use crate::base::event::journal::History;
use crate::base::time::Time;
use crate::net::network::Crossing;
use crate::packet::Beside;
use crate::run::recording::Recording;

impl Simulation {
    /// `nodes` and `ports`: which of them are here; `may_leave`: by port, whether what it sends may go on elsewhere.  Returns
    /// with it the number up to which events have the same numbers in all parts: all nodes are up.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn of_part(
        scenario: Lowered,
        nodes: Vec<bool>,
        ports: Vec<bool>,
        may_leave: &[bool],
    ) -> Result<(Self, u64), Error> {
        let mut simulation = Simulation::new(scenario, None)?;
        simulation.is_here = nodes;
        simulation.hosts.keep_finished();
        simulation.network.divide(ports, may_leave);
        let nodes = simulation.startups.len() as u64;
        simulation.run_for(nodes)?;
        let common = simulation.network.events().keep_journal();
        simulation.recorder.attend_to_all();
        Ok((simulation, common))
    }

    /// Whether parts of it could run side by side, as far as its network says.
    pub fn is_divisible(&self) -> bool {
        self.network.is_divisible()
    }

    /// When the next event is due.
    pub fn next_time(&mut self) -> Time {
        self.network.events().next_time()
    }

    /// Runs what is due from `start` on and before `end`.  Returns false after the scenario's end.
    ///
    /// # Errors
    /// As [`Simulation::run_until`].
    pub fn run_window(&mut self, start: Time, end: Time) -> Result<bool, Error> {
        self.network.events().begin_window(start);
        self.run_until(Time(end.0 - 1))
    }

    /// The window is over.
    pub fn end_window(&mut self, history: &mut History) {
        self.network.events().end_window(history);
    }

    /// Packets that have left in it, in the order in which they did, with what is kept beside them, if something is.
    pub fn take_leaving(&mut self, give: impl FnMut(Crossing, Option<Beside>)) {
        self.network.take_leaving(give);
    }

    /// Whether there are numbers for more events.
    pub fn has_numbers(&mut self) -> bool {
        self.network.events().has_numbers()
    }

    /// A packet comes from another part, and arrives under this key.  `is_for_receiver`: its flow's source is elsewhere, and
    /// its receiver here.
    ///
    /// # Errors
    /// [`Error::Crowded`].
    pub fn admit(
        &mut self,
        crossing: &Crossing,
        beside: Option<&Beside>,
        key: Key,
        is_for_receiver: bool,
    ) -> Result<(), Error> {
        if is_for_receiver {
            self.hosts.expect(crossing.packet.flow).map_err(|failure| failure.at(key.time))?;
        }
        self.network.admit(crossing, beside, key);
        Ok(())
    }

    /// Transfers whose ends here are over since the last call, some of them more than once.
    pub fn take_finished(&mut self) -> Vec<u32> {
        self.hosts.take_finished()
    }

    /// Whether a transfer is over as far as can be seen here: its ends, and its packets.
    pub fn is_over(&self, flow: u32) -> bool {
        self.hosts.is_over(flow, &self.network)
    }

    /// A transfer is over in all parts.
    pub fn let_go(&mut self, flow: u32) {
        self.hosts.let_go(flow, &mut self.network);
    }

    /// What has been recorded here, after the end.
    pub fn into_recording(self) -> Recording {
        self.recorder.finish(&self.scenario, &self.network, &self.hosts)
    }
}
