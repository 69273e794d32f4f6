//! Presto: flows are cut into cells of 64 kB, which take the paths in turn (K. He et al., "Presto: edge-based load
//! balancing for fast datacenter networks", ACM SIGCOMM 2015).
//!
//! ```text
//! packet with n bytes of payload:   if bytes + n > FlowcellSize:  bytes = n, next path;   else bytes += n
//! ```
//!
//! (algorithm 1), for each flow and direction; a flow's first path is random.  With `Weighted` paths are on the list as often as their
//! least rates say, spread evenly: number i has credit + rate(i) each time, the largest credit (the first of equals)
//! goes next and pays the sum of all rates.  The list has one round, at most 1024 entries.
//!
//! Presto hides reordering from TCP at the receiver (GRO); here it shows.

use super::HostContext;
use super::sender::{Paths, Sender, Sending, grown, path_of};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::pair_table::PairTable;
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "presto",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; hosts send 64 kB of a flow by one, then by the next.",
    source: "K. He et al., ACM SIGCOMM 2015",
    departures: &[],
    params: &[
        param![SIZE; Kind::Uint { min: 1, max: u32::MAX as u64 } => "65536";
            "Bytes of payload in a flowcell."],
        param![WEIGHTED; Kind::Bool => "false";
            "Paths are taken as often as their least rates say."],
    ],
};

const SIZE: &str = "FlowcellSize";
const WEIGHTED: &str = "Weighted";
const LONGEST_ROUND: usize = 1024;

#[derive(Debug)]
pub struct Presto {
    stream: RngStream,
    size: u32,
    is_weighted: bool,
    cells: Vec<Cell>,
    /// The order of paths, by leaves.
    rounds: PairTable<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    is_open: bool,
    bytes: u32,
    /// Where in its round the flow is.
    at: u32,
}

impl Presto {
    pub fn new(cx: &HostContext<'_>) -> Self {
        Presto {
            stream: cx.random(),
            size: cx.attributes.u32(SIZE),
            is_weighted: cx.attributes.bool(WEIGHTED),
            cells: Vec::new(),
            rounds: PairTable::default(),
        }
    }
}

impl Sender for Presto {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let leaves = sending.leaves_of;
        let pair = [
            leaves.nodes[sending.origin.node as usize],
            leaves.destinations[sending.origin.destination as usize],
        ];
        let is_weighted = self.is_weighted;
        let round = self.rounds.entry(pair, || round(sending.paths, is_weighted));
        let cell = grown(&mut self.cells, path_of(sending.packet));
        let payload = u32::from(sending.packet.payload);
        if !cell.is_open {
            let at = self.stream.uniform_integer(0, round.len() as u32 - 1);
            *cell = Cell { is_open: true, bytes: payload, at };
        } else if cell.bytes + payload > self.size {
            (cell.bytes, cell.at) = (payload, cell.at + 1);
        } else {
            cell.bytes += payload;
        }
        round[cell.at as usize % round.len()]
    }

    fn reroute(&mut self) {
        self.rounds = PairTable::default();
    }
}

/// The order in which paths are taken.
fn round(paths: &Paths, is_weighted: bool) -> Vec<u32> {
    let rates = &paths.rates;
    let divisor = rates.iter().copied().fold(0, greatest_common_divisor).max(1);
    let shares: Vec<i128> = rates.iter().map(|&rate| i128::from(rate / divisor)).collect();
    let sum: i128 = shares.iter().sum();
    if !is_weighted || sum == 0 {
        return (0..paths.count()).collect();
    }
    let length = usize::try_from(sum).unwrap_or(usize::MAX).min(LONGEST_ROUND);
    let mut credit = vec![0; shares.len()];
    let next = |_| {
        credit.iter_mut().zip(&shares).for_each(|(credit, share)| *credit += share);
        let most = credit.iter().copied().max().unwrap_or(0);
        let chosen = credit.iter().position(|&credit| credit == most).unwrap_or(0);
        credit[chosen] -= sum;
        chosen as u32
    };
    (0..length).map(next).collect()
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::routing::balance::host_bench::HostBench;

    #[test]
    fn a_cell_ends_before_the_packet_that_would_exceed_it() {
        let mut bench = HostBench::new("presto", &[("FlowcellSize", "3000")], 4);
        let paths: Vec<_> = (0..9).map(|_| bench.send(0, 1000)).collect();
        let first = paths[0];
        let expected: Vec<_> = (0..9).map(|i| (first + i / 3) % 4).collect();
        assert_eq!(paths, expected, "3000 bytes fill a cell, one more does not fit");
    }

    #[test]
    fn flows_have_cells_of_their_own() {
        let mut bench = HostBench::new("presto", &[("FlowcellSize", "2000")], 4);
        let firsts = [bench.send(0, 1500), bench.send(1, 1500)];
        assert_eq!(bench.send(0, 500), firsts[0]);
        assert_eq!(bench.send(1, 501), (firsts[1] + 1) % 4);
        assert_eq!(bench.send(0, 1), (firsts[0] + 1) % 4);
    }

    #[test]
    fn weighted_paths_are_taken_as_their_rates_say() {
        let rates = [10, 2, 10, 10].map(|gigabit| gigabit * 1_000_000_000);
        let order = round(&Paths { rates: rates.to_vec() }, true);
        let count = |path| order.iter().filter(|&&other| other == path).count();
        assert_eq!([count(0), count(1), count(2), count(3)], [5, 1, 5, 5]);
        assert!(order.windows(2).all(|two| two[0] != two[1]), "spread evenly: {order:?}");
        let even = round(&Paths { rates: rates.to_vec() }, false);
        assert_eq!(even, [0, 1, 2, 3]);
    }
}
