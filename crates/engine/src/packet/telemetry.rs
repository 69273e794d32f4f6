//! In-band network telemetry (INT): what each switch on a packet's path writes into it about the link that it leaves on, as HPCC
//! has it (Li et al., SIGCOMM 2019, section 4.1).
//!
//! The header has room for five switches, and its size does not depend on how many there are: 8 bytes each, and 2 for their number
//! and the path.  Values are kept exactly; the header rounds the queue to 80 bytes and what was sent to 128, and its clock begins
//! anew each 16 ms.

use crate::base::time::{Rate, Time};

/// Switches that it has room for.
pub const HOPS: usize = 5;

/// Bytes of it, in a packet and in what acknowledges that.
pub const TELEMETRY_HEADER: u32 = 8 * HOPS as u32 + 2;

/// What a switch says of a link as a packet begins to leave on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Bytes that wait for it.
    pub queue: u32,
    /// Bytes that it has sent, this packet not included.
    pub sent: u64,
    pub at: Time,
    pub rate: Rate,
}

/// What all switches so far have said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hops {
    hops: [Hop; HOPS],
    count: usize,
    path: u32,
}

impl Hops {
    /// A switch adds its own; `port` is where it sends.  After the fifth nothing is written.
    pub fn push(&mut self, port: u32, hop: Hop) {
        if let Some(free) = self.hops.get_mut(self.count) {
            *free = hop;
            self.count += 1;
            // So that the same ports in another order are another path.
            self.path = self.path.rotate_left(5) ^ (port + 1);
        }
    }

    /// Tells paths apart; 0 if there is none.
    pub fn path(&self) -> u32 {
        self.path
    }
}

impl std::ops::Deref for Hops {
    type Target = [Hop];

    fn deref(&self) -> &[Hop] {
        &self.hops[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_room_for_five_switches_and_tells_paths_apart() {
        let mut hops = Hops::default();
        assert_eq!((hops.len(), hops.path(), TELEMETRY_HEADER), (0, 0, 42));
        for queue in 0..7 {
            hops.push(queue, Hop { queue, ..Hop::default() });
        }
        assert_eq!(hops.iter().map(|hop| hop.queue).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let path = |ports: [u32; 2]| {
            let mut hops = Hops::default();
            ports.iter().for_each(|&port| hops.push(port, Hop::default()));
            hops.path()
        };
        assert!(path([0, 1]) != path([1, 0]) && path([0, 1]) != path([0, 2]));
    }
}
