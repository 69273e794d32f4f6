//! Numbers with units, in ns-3's spelling and in the `*bit` spelling of tc.
//!
//! Parsing is exact: a text means one integer (bit/s, nanoseconds, bytes, packets) or is refused;
//! nothing is rounded and nothing goes through floating point.  Units are case-sensitive, and a
//! number without one is refused.

use crate::base::time::{Rate, Time};

/// A limit in packets or in bytes (ns-3's `QueueSize`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    Packets(u32),
    Bytes(u32),
}

/// A unit and the ratio of integers that leads from it to the base unit.
struct Unit {
    name: &'static str,
    numerator: u128,
    denominator: u128,
}

const fn unit(name: &'static str, numerator: u128) -> Unit {
    Unit { name, numerator, denominator: 1 }
}

const KI: u128 = 1 << 10;
const MI: u128 = 1 << 20;
const GI: u128 = 1 << 30;
const TI: u128 = 1 << 40;
const K: u128 = 1_000;
const M: u128 = 1_000_000;
const G: u128 = 1_000_000_000;
const T: u128 = 1_000_000_000_000;

/// In bit/s.
const RATE_UNITS: &[Unit] = &[
    unit("bps", 1),
    unit("b/s", 1),
    unit("Bps", 8),
    unit("B/s", 8),
    unit("kbps", K),
    unit("kb/s", K),
    unit("Kbps", K),
    unit("Kb/s", K),
    unit("kBps", 8 * K),
    unit("kB/s", 8 * K),
    unit("KBps", 8 * K),
    unit("KB/s", 8 * K),
    unit("Kib/s", KI),
    unit("KiB/s", 8 * KI),
    unit("Mbps", M),
    unit("Mb/s", M),
    unit("MBps", 8 * M),
    unit("MB/s", 8 * M),
    unit("Mib/s", MI),
    unit("MiB/s", 8 * MI),
    unit("Gbps", G),
    unit("Gb/s", G),
    unit("GBps", 8 * G),
    unit("GB/s", 8 * G),
    unit("Gib/s", GI),
    unit("GiB/s", 8 * GI),
    unit("Tbps", T),
    unit("Tb/s", T),
    // IEEE's, as data sheets have them.
    unit("bit/s", 1),
    unit("kbit/s", K),
    unit("Mbit/s", M),
    unit("Gbit/s", G),
    unit("Tbit/s", T),
    // tc(8), which takes these in any case.
    unit("bit", 1),
    unit("kbit", K),
    unit("Kbit", K),
    unit("mbit", M),
    unit("Mbit", M),
    unit("gbit", G),
    unit("Gbit", G),
    unit("tbit", T),
    unit("Tbit", T),
    unit("kibit", KI),
    unit("Kibit", KI),
    unit("mibit", MI),
    unit("Mibit", MI),
    unit("gibit", GI),
    unit("Gibit", GI),
    unit("tibit", TI),
    unit("Tibit", TI),
];

/// In nanoseconds.
const TIME_UNITS: &[Unit] = &[
    unit("s", G),
    unit("ms", M),
    unit("us", K),
    unit("ns", 1),
    Unit { name: "ps", numerator: 1, denominator: K },
    Unit { name: "fs", numerator: 1, denominator: M },
    unit("min", 60 * G),
    unit("h", 3_600 * G),
    unit("d", 86_400 * G),
    unit("y", 365 * 86_400 * G),
];

/// In bytes.
const SIZE_UNITS: &[Unit] = &[
    unit("B", 1),
    unit("kB", K),
    unit("KB", K),
    unit("KiB", KI),
    unit("MB", M),
    unit("MiB", MI),
    unit("GB", G),
    unit("GiB", GI),
    unit("TB", T),
    unit("TiB", TI),
];

/// In packets.
const PACKET_UNITS: &[Unit] =
    &[unit("p", 1), unit("kp", K), unit("Kp", K), unit("Kip", KI), unit("Mp", M), unit("Mip", MI)];

/// ns-3 prints its largest time with six digits; whatever is at least this long means "never".
const NEVER: u64 = 9_200_000_000_000_000_000;
const NEVER_TEXT: &str = "+9.22337e+18ns";

/// A time, e.g. `5.5ms`, `+1e+07ns`, `2min`; times of 9.2e18 ns and more are [`Time::MAX`].
pub fn parse_time(text: &str) -> Result<Time, String> {
    let quantity = Quantity { what: "time", base: "1 ns", example: "15ms", units: &[TIME_UNITS] };
    let (_, ns) = quantity.parse(text)?;
    if ns > Time::MAX.0 {
        return Err(quantity.too_large(text));
    }
    Ok(if ns >= NEVER { Time::MAX } else { Time(ns) })
}

/// A rate, e.g. `16Mbps`, `1.5Gb/s`, `100mbit`.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    let quantity =
        Quantity { what: "rate", base: "1 bit/s", example: "16Mbps", units: &[RATE_UNITS] };
    quantity.parse(text).map(|(_, bps)| Rate(bps))
}

/// A number of bytes, e.g. `512B`, `1.5kB`, `4MiB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let quantity = Quantity { what: "size", base: "1 B", example: "512B", units: &[SIZE_UNITS] };
    quantity.parse(text).map(|(_, bytes)| bytes)
}

/// A limit in packets or bytes, e.g. `20p`, `2.8kp`, `64KiB`.
pub fn parse_queue_size(text: &str) -> Result<QueueSize, String> {
    let quantity = Quantity {
        what: "queue size",
        base: "one packet or byte",
        example: "20p or 30kB",
        units: &[PACKET_UNITS, SIZE_UNITS],
    };
    let (family, n) = quantity.parse(text)?;
    let n = u32::try_from(n).map_err(|_| quantity.too_large(text))?;
    Ok(if family == 0 { QueueSize::Packets(n) } else { QueueSize::Bytes(n) })
}

/// Whole numbers between spaces, e.g. `3000 1500 1500`; at least one.
pub fn parse_numbers(text: &str) -> Result<Vec<u32>, String> {
    let numbers: Option<Vec<u32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty());
    numbers.ok_or_else(|| format!("`{text}` is not a list of whole numbers, like `2 1 1`"))
}

/// The shortest text that [`parse_time`] reads back as `time`.
pub fn format_time(time: Time) -> String {
    if time.0 >= NEVER {
        return NEVER_TEXT.to_owned();
    }
    shortest(time.0, &[("ns", 0), ("us", 3), ("ms", 6), ("s", 9)], "s")
}

/// The shortest text that [`parse_rate`] reads back as `rate`.
pub fn format_rate(rate: Rate) -> String {
    shortest(rate.0, &[("bps", 0), ("kbps", 3), ("Mbps", 6), ("Gbps", 9)], "bps")
}

/// The shortest text that [`parse_size`] reads back as `bytes`.
pub fn format_size(bytes: u64) -> String {
    shortest(bytes, &[("B", 0), ("kB", 3), ("MB", 6)], "B")
}

/// `2800p` or `30000B`: queue sizes are counts, which nobody writes as `2.8kp`.
pub fn format_queue_size(size: QueueSize) -> String {
    match size {
        QueueSize::Packets(n) => format!("{n}p"),
        QueueSize::Bytes(n) => format!("{n}B"),
    }
}

/// What is being parsed, for the messages.
struct Quantity {
    what: &'static str,
    /// The resolution.
    base: &'static str,
    example: &'static str,
    units: &'static [&'static [Unit]],
}

impl Quantity {
    /// The value in base units, and which of the families of units it was in.
    fn parse(&self, text: &str) -> Result<(usize, u64), String> {
        let (number, name) = split(text);
        let Quantity { what, base, example, .. } = self;
        let Some(number) = Decimal::parse(number) else {
            return Err(format!("`{text}` is not a {what}; write it like {example}"));
        };
        if name.is_empty() {
            return Err(format!("`{text}` has no unit; write a {what} like {example}"));
        }
        let (family, unit) = self.find(name).ok_or_else(|| self.unknown_unit(text, name))?;
        if number.negative && number.digits != 0 {
            return Err(format!("`{text}` is negative; a {what} must not be"));
        }
        match number.times(unit.numerator, unit.denominator) {
            Ok(value) => Ok((family, value)),
            Err(Inexact::Fraction) => Err(format!(
                "`{text}` would lose precision: a {what} is a whole multiple of {base}"
            )),
            Err(Inexact::Overflow) => Err(self.too_large(text)),
        }
    }

    fn find(&self, name: &str) -> Option<(usize, &'static Unit)> {
        // The first letter tells most of them apart.
        let is_named =
            |unit: &&Unit| unit.name.as_bytes()[0] == name.as_bytes()[0] && unit.name == name;
        self.units
            .iter()
            .enumerate()
            .find_map(|(family, units)| units.iter().find(is_named).map(|unit| (family, unit)))
    }

    fn unknown_unit(&self, text: &str, name: &str) -> String {
        let number = split(text).0;
        if self.what == "rate" {
            // tc(8): a bare number or "bps" are bytes per second there.
            if let Some(letter @ ('m' | 'g' | 't')) = name.strip_suffix("bps").and_then(one_char) {
                let big = letter.to_ascii_uppercase();
                return format!(
                    "`{text}` is ambiguous: tc reads `{name}` as bytes per second, and ns-3 does \
                     not know it; write `{number}{big}bps` or `{number}{letter}bit` for bits, \
                     `{number}{big}Bps` for bytes"
                );
            }
        }
        let all = || self.units.iter().flat_map(|units| units.iter());
        match all().find(|unit| unit.name.eq_ignore_ascii_case(name)) {
            Some(unit) => format!(
                "`{text}`: units are case-sensitive; `{name}` is not one, `{number}{}` is",
                unit.name
            ),
            None => {
                let hint = match all().find(|unit| is_slip(name, unit.name)) {
                    Some(unit) => format!("did you mean `{number}{}`?", unit.name),
                    None => format!("write it like {}", self.example),
                };
                format!("`{text}`: `{name}` is not a unit of a {}; {hint}", self.what)
            }
        }
    }

    fn too_large(&self, text: &str) -> String {
        format!("`{text}` is too large for a {}", self.what)
    }
}

/// Whether one letter too many, too few or another one makes the difference, in a unit of several.
fn is_slip(typed: &str, meant: &str) -> bool {
    let alike =
        |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let before = alike(&mut typed.bytes().zip(meant.bytes()));
    let after = alike(&mut typed.bytes().rev().zip(meant.bytes().rev()));
    let longer = typed.len().max(meant.len());
    typed.len().min(meant.len()) > 1
        && typed.len().abs_diff(meant.len()) < 2
        && before + after + 1 >= longer
}

fn one_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Splits a text into number and unit.  `e` belongs to the number only if an exponent follows.
fn split(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits_from = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let sign_at = |i: usize| usize::from(matches!(bytes.get(i), Some(b'+' | b'-')));
    let mut end = digits_from(sign_at(0));
    if bytes.get(end) == Some(&b'.') {
        end = digits_from(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let start = end + 1 + sign_at(end + 1);
        let exponent = digits_from(start);
        if exponent > start {
            end = exponent;
        }
    }
    (&text[..end], text[end..].trim_start_matches(' '))
}

/// `digits * 10^exponent`.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i64,
}

enum Inexact {
    /// The result is not an integer.
    Fraction,
    Overflow,
}

impl Decimal {
    /// `[+-]digits[.digits][e[+-]digits]`, with at least one digit in the mantissa.
    fn parse(text: &str) -> Option<Decimal> {
        let negative = text.starts_with('-');
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut digits = 0u128;
        for digit in whole.chars().chain(fraction.chars()) {
            let digit = u128::from(digit.to_digit(10)?);
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
        Some(Decimal { negative, digits, exponent: exponent.checked_sub(fraction.len() as i64)? })
    }

    /// The number times a ratio, if that is an integer that fits.
    fn times(&self, numerator: u128, denominator: u128) -> Result<u64, Inexact> {
        // Scenarios with ten thousands of links have as many of these, nearly all whole and small.
        if let (0, 1, Ok(digits), Ok(numerator)) =
            (self.exponent, denominator, u64::try_from(self.digits), u64::try_from(numerator))
        {
            return digits.checked_mul(numerator).ok_or(Inexact::Overflow);
        }
        if self.digits == 0 {
            return Ok(0);
        }
        let power = |n: u64| u32::try_from(n).ok().and_then(|n| 10u128.checked_pow(n));
        let mut value = self.digits.checked_mul(numerator).ok_or(Inexact::Overflow)?;
        let mut divisor = denominator;
        let scale = power(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            value = scale.and_then(|s| value.checked_mul(s)).ok_or(Inexact::Overflow)?;
        } else {
            divisor = scale.and_then(|s| divisor.checked_mul(s)).ok_or(Inexact::Fraction)?;
        }
        if value % divisor != 0 {
            return Err(Inexact::Fraction);
        }
        u64::try_from(value / divisor).map_err(|_| Inexact::Overflow)
    }
}

/// The shortest decimal of `value` in one of `units` (name, power of ten) that is not below 1, the
/// smaller unit on ties; zero in the unit `zero`.
fn shortest(value: u64, units: &[(&str, usize)], zero: &str) -> String {
    if value == 0 {
        return format!("0{zero}");
    }
    let digits = value.to_string();
    let significant = digits.trim_end_matches('0').len();
    let length = |&&(name, power): &&(&str, usize)| {
        let whole = digits.len() - power;
        let decimals = significant.saturating_sub(whole);
        whole + usize::from(decimals > 0) + decimals + name.len()
    };
    let fits = |&&(_, power): &&(&str, usize)| digits.len() > power;
    let &(name, power) =
        units.iter().filter(fits).min_by_key(length).expect("the base unit always fits");
    let (whole, rest) = digits.split_at(digits.len() - power);
    let decimals = rest.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    [whole, point, decimals, name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ns3_and_tc_spellings() {
        for (text, bps) in [
            ("16Mbps", 16_000_000),
            ("1.5Gb/s", 1_500_000_000),
            ("0.57Mbps", 570_000),
            ("32768bps", 32_768),
            ("5kB/s", 40_000),
            ("1KiB/s", 8192),
            ("16mbit", 16_000_000),
            ("2Kibit", 2048),
            ("10 Mb/s", 10_000_000),
            ("1 Gbit/s", 1_000_000_000),
            ("8kbit/s", 8000),
            ("0bps", 0),
        ] {
            assert_eq!(parse_rate(text), Ok(Rate(bps)), "{text}");
        }
        for (text, ns) in [
            ("15s", 15_000_000_000),
            ("5.5ms", 5_500_000),
            ("0.5ms", 500_000),
            ("+1e+07ns", 10_000_000),
            ("+1.5e+07ns", 15_000_000),
            ("+0ns", 0),
            ("-0ns", 0),
            ("2min", 120_000_000_000),
            ("3000ps", 3),
            (".25us", 250),
            ("1.us", 1000),
            ("+9.22337e+18ns", Time::MAX.0),
            ("9223372036854775807ns", Time::MAX.0),
        ] {
            assert_eq!(parse_time(text), Ok(Time(ns)), "{text}");
        }
        for (text, size) in [
            ("20p", QueueSize::Packets(20)),
            ("2.8kp", QueueSize::Packets(2800)),
            ("1Kp", QueueSize::Packets(1000)),
            ("1Kip", QueueSize::Packets(1024)),
            ("1500000B", QueueSize::Bytes(1_500_000)),
            ("1.5kB", QueueSize::Bytes(1500)),
            ("64KiB", QueueSize::Bytes(65_536)),
        ] {
            assert_eq!(parse_queue_size(text), Ok(size), "{text}");
        }
        assert_eq!(parse_size("4MB"), Ok(4_000_000));
    }

    #[test]
    fn refusals_say_why() {
        for (error, reason) in [
            (parse_rate("16").err(), "has no unit"),
            (parse_rate("16mbps").err(), "tc reads `mbps` as bytes per second"),
            (parse_rate("16mbps").err(), "`16Mbps` or `16mbit`"),
            (parse_rate("16MBPS").err(), "case-sensitive"),
            (parse_rate("16Mhz").err(), "`Mhz` is not a unit of a rate; write it like 16Mbps"),
            (parse_rate("16Mbs").err(), "did you mean `16Mbps`?"),
            (parse_rate("16 MBs").err(), "did you mean `16MBps`?"),
            (parse_rate("1Gbits/s").err(), "did you mean `1Gbit/s`?"),
            (parse_time("5m").err(), "`m` is not a unit of a time; write it like 15ms"),
            (parse_time("5µs").err(), "write it like 15ms"),
            (parse_queue_size("50ms").err(), "write it like 20p or 30kB"),
            (parse_rate("-1Mbps").err(), "is negative"),
            (parse_rate("0.0000001Mbps").err(), "would lose precision"),
            (parse_rate("1e30Gbps").err(), "too large"),
            (parse_rate("1e999999999999Gbps").err(), "too large"),
            (parse_rate("Mbps").err(), "is not a rate"),
            (parse_rate("").err(), "is not a rate"),
            (parse_rate("nanMbps").err(), "is not a rate"),
            (parse_time("15").err(), "has no unit"),
            (parse_time("0.5ns").err(), "would lose precision"),
            (parse_time("1e-10s").err(), "would lose precision"),
            (parse_time("1e-999999999999s").err(), "would lose precision"),
            (parse_time("15MS").err(), "`15ms` is"),
            (parse_time("293y").err(), "too large"),
            (parse_time("1e5").err(), "has no unit"),
            (parse_queue_size("20").err(), "has no unit"),
            (parse_queue_size("0.5p").err(), "would lose precision"),
            (parse_queue_size("5GB").err(), "too large"),
            (parse_queue_size("20P").err(), "`20p` is"),
            (parse_size("20p").err(), "`p` is not a unit of a size"),
        ] {
            let error = error.expect(reason);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn the_shortest_form() {
        let rate = |bps| format_rate(Rate(bps));
        assert_eq!(rate(16_000_000), "16Mbps");
        assert_eq!(rate(1_500_000), "1.5Mbps");
        assert_eq!(rate(32_768), "32768bps");
        assert_eq!(rate(0), "0bps");
        assert_eq!(format_time(Time(5_500_000)), "5.5ms");
        assert_eq!(format_time(Time(500_000)), "500us");
        assert_eq!(format_time(Time(3_750_000_000)), "3.75s");
        assert_eq!(format_time(Time(0)), "0s");
        assert_eq!(format_time(Time::MAX), "+9.22337e+18ns");
        assert_eq!(format_size(1500), "1500B");
        assert_eq!(format_size(4_000_000), "4MB");
        assert_eq!(format_queue_size(QueueSize::Packets(10_000)), "10000p");
    }

    proptest! {
        #[test]
        fn rates_survive_formatting(bps: u64) {
            prop_assert_eq!(parse_rate(&format_rate(Rate(bps))), Ok(Rate(bps)));
        }

        #[test]
        fn times_survive_formatting(ns in 0..NEVER) {
            prop_assert_eq!(parse_time(&format_time(Time(ns))), Ok(Time(ns)));
        }

        #[test]
        fn sizes_survive_formatting(bytes: u64, n: u32) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
            for size in [QueueSize::Packets(n), QueueSize::Bytes(n)] {
                prop_assert_eq!(parse_queue_size(&format_queue_size(size)), Ok(size));
            }
        }

        /// Every round number survives in every unit, whatever its decimals.
        #[test]
        fn decimals_are_exact(ms in 0u64..1_000_000, us in 0u64..1000) {
            let expected = Ok(Time(ms * 1_000_000 + us * 1000));
            prop_assert_eq!(parse_time(&format!("{ms}.{us:03}ms")), expected);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = (parse_rate(&text), parse_time(&text));
            let _ = (parse_size(&text), parse_queue_size(&text));
        }

        #[test]
        fn nothing_like_a_number_panics(text in "[-+]?[0-9.eE]{0,44}[a-zA-Z/]{0,4}") {
            let _ = (parse_rate(&text), parse_time(&text));
            let _ = (parse_size(&text), parse_queue_size(&text));
        }
    }
}
