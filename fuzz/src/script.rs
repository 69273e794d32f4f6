//! Bytes as numbers, without end: what a user's algorithm answers, one call after the other.

/// What stands at the edge of something.
const EDGES: [i64; 16] = [
    0,
    1,
    -1,
    2,
    536,
    1448,
    14_480,
    65_535,
    65_536,
    i32::MAX as i64,
    u32::MAX as i64,
    u32::MAX as i64 + 1,
    1_000_000,
    1_000_000_000,
    i64::MAX,
    i64::MIN,
];

#[derive(Clone, Debug)]
pub struct Script {
    bytes: Vec<u8>,
    at: usize,
}

impl Script {
    pub fn new(bytes: &[u8]) -> Script {
        Script { bytes: bytes.to_vec(), at: 0 }
    }

    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at = (self.at + 1) % self.bytes.len().max(1);
        byte
    }

    /// An edge, or a small number, or any.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            edge @ 0..64 => EDGES[usize::from(edge) % EDGES.len()],
            64..192 => i64::from(self.byte()) * 1448 + i64::from(self.byte()),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }
}
