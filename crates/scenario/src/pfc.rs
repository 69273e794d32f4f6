//! Checks of priority-based flow control, and its defaults.

use std::collections::HashMap;

use ccperf_engine::base::limits::LARGEST_BUFFER;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units;
use ccperf_engine::packet::PPP_HEADER;
use ccperf_engine::packet::ingress::{PAUSE_FRAME, PRIORITIES, quanta_at};
use ccperf_schema::written::{Direction, Link, Pfc, Scenario};

use super::check::{Path, Report};

/// Frames of the MTU that a pause ends below its threshold.
const HYSTERESIS: u64 = 2;

/// Either way of a link that pauses.
struct Ways {
    rates: [Rate; 2],
    frames: [u64; 2],
    delay: Time,
}

impl Report {
    pub(super) fn pfc(&mut self, s: &mut Scenario) {
        // By switch: who said how large its buffer is.
        let mut buffers = HashMap::new();
        for (i, link) in s.links.iter_mut().enumerate().filter(|(_, link)| link.pauses()) {
            let ways = ways(link);
            let [first, second] = &link.ends;
            let directions =
                [("forward", &mut link.forward, second), ("reverse", &mut link.reverse, first)];
            for (side, (word, direction, switch)) in directions.into_iter().enumerate() {
                let Some(pfc) = &mut direction.pfc else { continue };
                let path = format!("links[{i}].{word}.pfc");
                self.priorities(&path, &mut pfc.priorities);
                self.threshold(&path, pfc);
                self.time(&format_args!("{path}.response"), &mut pfc.response);
                if let Some(ways) = &ways {
                    self.room_of(&path, pfc, ways, side);
                }
                let Some(buffer) = &pfc.buffer else { continue };
                let first = buffers.entry(switch.clone()).or_insert((buffer.clone(), path.clone()));
                if first.0 != *buffer {
                    let (other, by) = &*first;
                    let message =
                        format!("`{switch}` has a buffer of {other} by {by}; write the same");
                    self.add(format!("{path}.buffer"), message);
                }
            }
        }
    }

    fn priorities(&mut self, path: Path<'_>, priorities: &mut [u8]) {
        let path = format!("{path}.priorities");
        if priorities.is_empty() {
            self.add(&path, "is empty: nothing would pause; write [3], or leave pfc out");
        }
        if let Some(priority) = priorities.iter().find(|&&p| usize::from(p) >= PRIORITIES) {
            self.add(&path, format!("{priority} is no priority; write numbers from 0 to 7"));
        }
        priorities.sort_unstable();
        if priorities.windows(2).any(|pair| pair[0] == pair[1]) {
            self.add(path, "has a priority twice; write each once");
        }
    }

    fn threshold(&mut self, path: Path<'_>, pfc: &mut Pfc) {
        for (name, size) in [
            ("xoff", &mut pfc.xoff),
            ("buffer", &mut pfc.buffer),
            ("hysteresis", &mut pfc.hysteresis),
            ("headroom", &mut pfc.headroom),
        ] {
            let Some(text) = size else { continue };
            let path = format!("{path}.{name}");
            if self.size(&path, text).is_some_and(|bytes| bytes > LARGEST_BUFFER) {
                let most = units::format_size(LARGEST_BUFFER);
                self.add(path, format!("`{text}` is too large; the largest buffer is {most}"));
            }
        }
        match (&pfc.xoff, pfc.alpha, &pfc.buffer) {
            (Some(_), None, None) => {}
            (None, Some(alpha), Some(_)) => {
                if !(alpha > 0.0 && alpha <= 1e6) {
                    let message = format!("{alpha} is not above 0 and at most 1000000");
                    self.add(format!("{path}.alpha"), message);
                }
            }
            _ => self.add(
                path,
                "give either xoff, the threshold in bytes, or alpha and buffer, its share of what is free",
            ),
        }
    }

    /// Fills in what depends on the link.
    fn room_of(&mut self, path: Path<'_>, pfc: &mut Pfc, ways: &Ways, side: usize) {
        let (rate, frame) = (ways.rates[side], ways.frames[side]);
        pfc.hysteresis.get_or_insert_with(|| units::format_size(HYSTERESIS * frame));
        let response = units::parse_time(&pfc.response).unwrap_or_default();
        pfc.headroom.get_or_insert_with(|| units::format_size(ways.headroom(side, response)));
        let wait = ways.rates[1 - side].tx_time((ways.frames[1 - side] + PAUSE_FRAME) as u32);
        if quanta_at(rate, pfc.quanta).0 / 2 < wait.0 {
            let message = format!(
                "{} end before they can be renewed, every half of them; write 65535",
                pfc.quanta
            );
            self.add(format!("{path}.quanta"), message);
        }
    }
}

impl Ways {
    /// What may come over this way after a pause was asked for: what is on the wire there and back, what is sent while the
    /// pause frame waits for a frame of the MTU and is sent itself, and until it has its effect; and a frame of the MTU that
    /// had just begun by then.
    fn headroom(&self, side: usize, response: Time) -> u64 {
        let back = 1 - side;
        let wait = self.rates[back].tx_time((self.frames[back] + PAUSE_FRAME) as u32);
        let time = wait.0 + 2 * self.delay.0 + response.0;
        let bits = u128::from(self.rates[side].0) * u128::from(time);
        let bytes = bits.div_ceil(8_000_000_000) as u64;
        (bytes + self.frames[side]).min(LARGEST_BUFFER)
    }
}

fn ways(link: &Link) -> Option<Ways> {
    let directions = [&link.forward, &link.reverse];
    let rate = |d: &Direction| units::parse_rate(d.rate.as_ref().unwrap_or(&link.rate)).ok();
    let frame = |d: &Direction| Some(units::parse_size(&d.mtu).ok()? + u64::from(PPP_HEADER));
    let delay = units::parse_time(&link.delay).ok()?;
    let rates = [rate(directions[0])?, rate(directions[1])?];
    let frames = [frame(directions[0])?, frame(directions[1])?];
    let makes_sense = rates.iter().all(|rate| rate.0 > 0) && frames.iter().all(|&f| f <= 1 << 17);
    makes_sense.then_some(Ways { rates, frames, delay })
}
