//! Random numbers: L'Ecuyer's MRG32k3a with streams and substreams (P. L'Ecuyer et al., "An
//! object-oriented random-number package with many long streams and substreams", Operations
//! Research 50(6), 2002), and ns-3's samplers on top.  The numbers are those of ns-3 3.44.

use ccperf_schema::lowered::Distribution;

use crate::base::math;

/// The two components' moduli.
const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
/// Brings a combined state into (0, 1).
const NORM: f64 = 1.0 / (M1 as f64 + 1.0);

/// Streams start 2^127 steps apart, their substreams 2^76.
const STREAM_BITS: usize = 127;
const SUBSTREAM_BITS: usize = 76;

/// ns-3's default `RngSeed`; replications differ in the run, as ns-3 recommends.
const SEED: u32 = 1;
/// ns-3 numbers the streams that it assigns itself from 0, those assigned explicitly from here.
const FIRST_FIXED_STREAM: u64 = 1 << 63;

/// One numbered stream.
#[derive(Clone, Debug)]
pub struct RngStream {
    seed: u32,
    stream: u64,
    substream: u64,
    /// Computed with the first draw: most streams of a scenario are never drawn from.
    state: Option<State>,
}

/// The last three values of each component, oldest first; they are below the moduli.
type State = [[u32; 3]; 2];

impl RngStream {
    /// ns-3's `RngStream(seed, stream, substream)`: `seed` (1 to 4294944442) picks the sequence,
    /// `stream` the component that draws, `substream` the replication.
    pub fn new(seed: u32, stream: u64, substream: u64) -> Self {
        assert!(seed > 0 && u64::from(seed) < M2, "invalid seed {seed}");
        RngStream { seed, stream, substream, state: None }
    }

    /// What a random variable of ns-3 draws from after `SetStream(stream)` when `RngRun` is `run`
    /// and `RngSeed` has its default.
    pub fn fixed(run: u64, stream: u64) -> Self {
        RngStream::new(SEED, FIRST_FIXED_STREAM.wrapping_add(stream), run)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        let mut state = self.state.unwrap_or_else(|| self.start());
        let [a, b, c] = state[0];
        let x = (1_403_580 * u64::from(b) + 810_728 * (M1 - u64::from(a))) % M1;
        state[0] = [b, c, x as u32];
        let [a, b, c] = state[1];
        let y = (527_612 * u64::from(c) + 1_370_589 * (M2 - u64::from(a))) % M2;
        state[1] = [b, c, y as u32];
        self.state = Some(state);
        let difference = if x > y { x - y } else { x + M1 - y };
        difference as f64 * NORM
    }

    fn start(&self) -> State {
        let component = |powers: &[Matrix; POWERS], modulus| {
            let start = [u64::from(self.seed); 3];
            let at = advance(&powers[STREAM_POWER..], self.stream, start, modulus);
            advance(powers, self.substream, at, modulus).map(|value| value as u32)
        };
        [component(&POWERS_1, M1), component(&POWERS_2, M2)]
    }

    /// Uniform in (min, max) (ns-3's `UniformRandomVariable::GetValue`).
    pub fn uniform(&mut self, min: f64, max: f64) -> f64 {
        min + self.unit() * (max - min)
    }

    /// Uniform among the integers from `min` to `max`, both included (ns-3's
    /// `UniformRandomVariable::GetInteger`).
    pub fn uniform_integer(&mut self, min: u32, max: u32) -> u32 {
        self.uniform(f64::from(min), f64::from(max) + 1.0) as u32
    }

    /// Exponential with this mean; values above `bound` are drawn again, 0 means no bound (ns-3's
    /// `ExponentialRandomVariable`).
    pub fn exponential(&mut self, mean: f64, bound: f64) -> f64 {
        loop {
            let value = -mean * math::ln(self.unit());
            if bound == 0.0 || value <= bound {
                return value;
            }
        }
    }
}

/// A distribution with the stream that is drawn from: ns-3's `ConstantRandomVariable`,
/// `UniformRandomVariable` and `ExponentialRandomVariable`.
#[derive(Clone, Debug)]
pub struct RandomVariable {
    distribution: Distribution,
    stream: RngStream,
}

impl RandomVariable {
    pub fn new(distribution: Distribution, run: u64, stream: u64) -> Self {
        RandomVariable { distribution, stream: RngStream::fixed(run, stream) }
    }

    pub fn draw(&mut self) -> f64 {
        match self.distribution {
            Distribution::Constant(value) => value,
            Distribution::Uniform { min, max } => self.stream.uniform(min, max),
            Distribution::Exponential { mean, bound } => self.stream.exponential(mean, bound),
        }
    }
}

/// Draws from normal distributions by the polar method (A. M. Law, "Simulation Modeling and
/// Analysis", section 8.3.6), two at a time (ns-3's `NormalRandomVariable`).
#[derive(Clone, Debug)]
pub struct Normal {
    stream: RngStream,
    /// The second deviate of the last pair, as the factors `v` and `y`.
    spare: Option<(f64, f64)>,
}

impl Normal {
    pub fn new(stream: RngStream) -> Self {
        Normal { stream, spare: None }
    }

    /// A value no further than `bound` from `mean`.
    pub fn sample(&mut self, mean: f64, variance: f64, bound: f64) -> f64 {
        let deviate = |v: f64, y: f64| mean + v * y * variance.sqrt();
        let is_within = |x: f64| (x - mean).abs() <= bound;
        if let Some((v, y)) = self.spare.take() {
            let x = deviate(v, y);
            if is_within(x) {
                return x;
            }
        }
        loop {
            let v1 = 2.0 * self.stream.unit() - 1.0;
            let v2 = 2.0 * self.stream.unit() - 1.0;
            let w = v1 * v1 + v2 * v2;
            if w > 1.0 {
                continue;
            }
            let y = ((-2.0 * math::ln(w)) / w).sqrt();
            let (x1, x2) = (deviate(v1, y), deviate(v2, y));
            if is_within(x1) {
                self.spare = Some((v2, y));
                return x1;
            }
            if is_within(x2) {
                return x2;
            }
        }
    }
}

type Matrix = [[u32; 3]; 3];

/// A component's transition matrix to the powers of two from 2^76 on: those that the bits of the number of a substream, and
/// then those of a stream, stand for.
const POWERS: usize = STREAM_POWER + u64::BITS as usize;
const STREAM_POWER: usize = STREAM_BITS - SUBSTREAM_BITS;

static POWERS_1: [Matrix; POWERS] =
    powers([[0, 1, 0], [0, 0, 1], [(M1 - 810_728) as u32, 1_403_580, 0]], M1);
static POWERS_2: [Matrix; POWERS] =
    powers([[0, 1, 0], [0, 0, 1], [(M2 - 1_370_589) as u32, 0, 527_612]], M2);

const fn powers(transition: Matrix, modulus: u64) -> [Matrix; POWERS] {
    let mut power = transition;
    let mut bit = 0;
    while bit < SUBSTREAM_BITS {
        power = product(&power, &power, modulus);
        bit += 1;
    }
    let mut powers = [power; POWERS];
    let mut index = 1;
    while index < POWERS {
        powers[index] = product(&powers[index - 1], &powers[index - 1], modulus);
        index += 1;
    }
    powers
}

const fn product(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let mut result = [[0; 3]; 3];
    let mut row = 0;
    while row < 3 {
        let mut column = 0;
        while column < 3 {
            // Factors are below 2^32: one product fits 64 bits, the sum of three might not.
            let mut sum = 0;
            let mut k = 0;
            while k < 3 {
                sum = (sum + a[row][k] as u64 * b[k][column] as u64 % modulus) % modulus;
                k += 1;
            }
            result[row][column] = sum as u32;
            column += 1;
        }
        row += 1;
    }
    result
}

/// `state` times the powers that the bits of `number` stand for.
fn advance(powers: &[Matrix], number: u64, mut state: [u64; 3], modulus: u64) -> [u64; 3] {
    for (bit, power) in powers.iter().enumerate().take(u64::BITS as usize) {
        if number >> bit & 1 == 1 {
            state = power.map(|row| {
                (0..3).fold(0, |sum, k| (sum + u64::from(row[k]) * state[k] % modulus) % modulus)
            });
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of ns-3 3.44's `RngStream`.
    #[test]
    fn streams_and_substreams_are_those_of_ns3() {
        let cases = [
            ((1, 0, 0), [0.0003395772237870988, 0.5558807159827996, 0.014204660652803588]),
            ((1, 5, 3), [0.41179685728944526, 0.06753043994454935, 0.6126840360086131]),
            (
                (7, 0xfedc_ba98_7654_3210, 0x1_2345_6789),
                [0.5008646783372046, 0.008620146613798686, 0.4233392335135864],
            ),
        ];
        for ((seed, stream, substream), expected) in cases {
            let mut rng = RngStream::new(seed, stream, substream);
            assert_eq!([(); 3].map(|()| rng.unit()), expected);
        }
    }

    /// ns-3 3.44 with `RngRun` 42 and `SetStream(3463052456368384)`.
    #[test]
    fn samples_are_those_of_ns3() {
        let fresh = || RngStream::fixed(42, 3_463_052_456_368_384);
        let mut rng = fresh();
        assert_eq!(
            [(); 4].map(|()| rng.unit()),
            [0.23451318097737192, 0.23735212077601842, 0.0827951438774797, 0.6831679838008575]
        );
        assert_eq!((0..100_000).fold(0.0, |sum, _| sum + rng.unit()), 50136.647134913146);
        assert_eq!(rng.unit(), 0.5102830718129127);

        rng = fresh();
        assert_eq!(
            [(); 3].map(|()| rng.uniform(-3.5, 17.25)),
            [1.3661485052804672, 1.4250565061023819, -1.7820007645422962]
        );
        assert_eq!([(); 6].map(|()| rng.uniform_integer(3, 9)), [7, 6, 7, 7, 5, 8]);

        rng = fresh();
        assert_eq!(
            [(); 4].map(|()| rng.exponential(2.5, 0.0)),
            [3.625608709541832, 3.5955262469954814, 6.228464670333853, 0.9525362493100576]
        );
        assert_eq!(
            [(); 4].map(|()| rng.exponential(2.5, 1.5)),
            [1.0406486203141578, 1.205171451918302, 0.40429018564937186, 0.010446505795118336]
        );

        let mut normal = Normal::new(fresh());
        assert_eq!(
            [(); 5].map(|()| normal.sample(1.5, 4.0, 1e307)),
            [
                -0.03610689327942551,
                -0.019680785910477505,
                0.3836768938180739,
                1.9901061184427011,
                2.5502768577819266
            ]
        );
        assert_eq!(
            [(); 5].map(|()| normal.sample(1.5, 4.0, 1.0)),
            [
                1.4774797638142467,
                1.7949160985791373,
                1.688636268204144,
                2.4158460152629617,
                2.3481351087543922
            ]
        );
    }

    #[test]
    fn streams_are_2_to_the_127_steps_apart() {
        let mut by_stream = RngStream::new(1, 3, 0);
        let mut by_substream = RngStream::new(1, 2, 1 << 51);
        assert_eq!(by_stream.unit(), by_substream.unit());
    }
}
