//! Values of attributes: checked against the tables, and in two spellings: the shortest for people,
//! base units for the backends.

use ccperf_engine::base::attributes::Kind;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units::{self, QueueSize};

/// The value in its canonical spelling.
///
/// # Errors
/// What is wrong with it, and what it should look like.
pub fn normalise(kind: Kind, text: &str) -> Result<String, String> {
    match kind {
        Kind::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Ok("true".to_owned()),
            "false" | "f" | "0" => Ok("false".to_owned()),
            _ => Err(format!("`{text}` is neither true nor false")),
        },
        Kind::Uint { min, max } => match text.parse::<u64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value.to_string()),
            _ => Err(format!("`{text}` is not a whole number from {min} to {max}")),
        },
        Kind::Real { min, max } => match text.parse::<f64>() {
            // Adding zero turns -0 into 0.
            Ok(value) if value.is_finite() && min <= value && value <= max => {
                Ok((value + 0.0).to_string())
            }
            Ok(value) if value.is_finite() => Err(if max < f64::MAX {
                format!("{text} is not between {min} and {max}")
            } else {
                format!("{text} is below {min}; write {min} or more")
            }),
            _ => Err(format!("`{text}` is not a number")),
        },
        Kind::Time => units::parse_time(text).map(units::format_time),
        Kind::Period => match units::parse_time(text)? {
            Time::ZERO => Err(format!("{text} would repeat without end; write a time above 0")),
            time => Ok(units::format_time(time)),
        },
        Kind::Threshold => match units::parse_time(text)? {
            Time::ZERO => Err(format!("{text} would mark every packet; write a time above 0")),
            time => Ok(units::format_time(time)),
        },
        Kind::Rate | Kind::OptionalRate => match units::parse_rate(text)? {
            Rate(0) if kind == Kind::Rate => {
                Err(format!("{text} would never send a packet; write a rate above 0"))
            }
            rate => Ok(units::format_rate(rate)),
        },
        Kind::QueueSize | Kind::PacketLimit | Kind::MarkingLength => {
            match units::parse_queue_size(text)? {
                QueueSize::Packets(0) | QueueSize::Bytes(0) if kind == Kind::MarkingLength => {
                    Err(format!("{text} would mark every packet; write a length above 0"))
                }
                QueueSize::Packets(0) | QueueSize::Bytes(0) => {
                    Err(format!("{text} would drop everything; the queue must hold at least 1p"))
                }
                QueueSize::Bytes(_) if kind == Kind::PacketLimit => {
                    Err(format!("{text} is in bytes; this limit counts packets, like 1000p"))
                }
                size => Ok(units::format_queue_size(size)),
            }
        }
        Kind::Enum(words) => words
            .iter()
            .find(|word| word.eq_ignore_ascii_case(text))
            .map(|&word| word.to_owned())
            .ok_or_else(|| format!("`{text}` is not one of {}", words.join(", "))),
        Kind::Numbers { min, max } => {
            let numbers = units::parse_numbers(text)?;
            if let Some(wrong) = numbers.iter().find(|number| !(min..=max).contains(number)) {
                return Err(format!("{wrong} is not from {min} to {max}"));
            }
            let words: Vec<_> = numbers.iter().map(u32::to_string).collect();
            Ok(words.join(" "))
        }
        Kind::Priomap => {
            let bands: Vec<_> = text.split_whitespace().collect();
            let is_band = |band: &&str| band.parse::<u16>().is_ok_and(|band| band < 16);
            if bands.len() == 16 && bands.iter().all(is_band) {
                Ok(bands.join(" "))
            } else {
                Err(format!("`{text}` is not sixteen band numbers from 0 to 15"))
            }
        }
    }
}

/// A normalised value with times in ns and rates in bps: ns-3 reads `1.001Mbps` through a double
/// and truncates, but whole numbers of the base unit it reads exactly.
pub fn in_base_units(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Time | Kind::Period | Kind::Threshold => {
            let time = units::parse_time(text).expect("normalised");
            if time == Time::MAX { text.to_owned() } else { format!("{}ns", time.0) }
        }
        Kind::Rate | Kind::OptionalRate => {
            format!("{}bps", units::parse_rate(text).expect("normalised").0)
        }
        _ => text.to_owned(),
    }
}
