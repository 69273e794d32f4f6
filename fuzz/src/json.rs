//! Another value in the place of one or a few: what gets past the reading of JSON, and further.

/// What stands at the edge of something.
const WORDS: [&str; 28] = [
    "0",
    "1",
    "-1",
    "255",
    "65536",
    "4294967295",
    "18446744073709551615",
    "1e300",
    "0.5",
    "\"0s\"",
    "\"1ns\"",
    "\"1000000000s\"",
    "\"9223372036854775807ns\"",
    "\"0bps\"",
    "\"1bps\"",
    "\"1000Tbps\"",
    "\"0p\"",
    "\"1p\"",
    "\"4294967295p\"",
    "\"1B\"",
    "\"65535B\"",
    "null",
    "true",
    "[]",
    "{}",
    "\"TcpBbr\"",
    "\"FqPieQueueDisc\"",
    "\"Exponential(mean=1ns)\"",
];

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Draw(pub u64);

impl Draw {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 on, below `end` unless that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }
}

/// Puts a word, or a piece of `other`, in the places of up to three of the text's values.
pub fn mutated(text: &str, other: &str, draw: &mut Draw) -> String {
    let mut text = text.to_owned();
    for _ in 0..=draw.below(3) {
        let values: Vec<usize> = text.match_indices(':').map(|(at, _)| at + 1).collect();
        if values.is_empty() {
            break;
        }
        let from = values[draw.below(values.len())];
        let to = from + text[from..].find([',', '}', ']']).unwrap_or(0);
        let value = if draw.below(4) == 0 {
            other.chars().skip(draw.below(other.len())).take(1 + draw.below(40)).collect()
        } else {
            WORDS[draw.below(WORDS.len())].to_owned()
        };
        text.replace_range(from..to, &value);
    }
    text
}
