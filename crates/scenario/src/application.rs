//! Checks of applications.

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::limits::LARGEST_WRITE;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::socket_params::SOCKET;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Application, Flow};

use super::check::{Path, Report};
use super::distribution::Times;

impl Report {
    /// The application of the flow at `path`, whose socket attributes have been checked.
    pub(super) fn application(&mut self, path: Path<'_>, flow: &mut Flow) {
        let buffer = match flow.transport {
            Transport::Tcp => Some(Attributes::new(&SOCKET, &flow.tcp).u32("SndBufSize")),
            // A packet carries one.
            Transport::Roce | Transport::Trimming => Some(u16::MAX.into()),
            Transport::Udp => None,
        };
        let path = format!("{path}.application");
        match &mut flow.application {
            Application::Greedy { .. } if buffer.is_none() => self.add(
                format!("{path}.type"),
                "Greedy sends as fast as TCP lets it, and nothing holds UDP back; write CBR, Poisson or \
                 OnOff with a rate",
            ),
            Application::Greedy { bytes, write, .. } => {
                self.size(&format_args!("{path}.bytes"), bytes);
                self.write_size(&path, write, buffer);
            }
            Application::Cbr { bytes, rate, write }
            | Application::Poisson { bytes, rate, write } => {
                self.paced(&path, [bytes, rate, write], buffer);
            }
            Application::OnOff { bytes, rate, write, on_time, off_time, .. } => {
                self.paced(&path, [bytes, rate, write], buffer);
                self.times(&format_args!("{path}.off_time"), off_time);
                let path = format!("{path}.on_time");
                if self.times(&path, on_time).is_some_and(Times::is_always_zero) {
                    self.add(path, "0s would never send; write a time above 0");
                }
            }
        }
    }

    fn paced(
        &mut self,
        path: Path<'_>,
        [bytes, rate, write]: [&mut String; 3],
        buffer: Option<u32>,
    ) {
        self.size(&format_args!("{path}.bytes"), bytes);
        let rate_path = format!("{path}.rate");
        let bps = self.rate(&rate_path, rate);
        let size = self.write_size(path, write, buffer);
        if let (Some(bps), Some(size)) = (bps, size)
            && Time::from_secs_f64(size as f64 * 8.0 / bps.0 as f64).is_zero()
        {
            self.add(rate_path, format!("{write} at {rate} leave no time between; lower the rate"));
        }
    }

    /// `buffer`: what the socket holds of what has not been sent; none over UDP.
    fn write_size(
        &mut self,
        path: Path<'_>,
        write: &mut String,
        buffer: Option<u32>,
    ) -> Option<u64> {
        let path = format!("{path}.write");
        let size = self.size(&path, write)?;
        if size == 0 {
            self.add(path, "0B would never send; write a size above 0");
        } else if let Some(buffer) = buffer.filter(|&buffer| size > u64::from(buffer)) {
            self.add(
                path,
                format!(
                    "{write} never fits in the send buffer of {buffer}B; lower it or raise \
                     tcp.SndBufSize"
                ),
            );
        } else if size > LARGEST_WRITE {
            self.add(path, format!("{write} is more than {LARGEST_WRITE}B; lower it"));
        } else {
            return Some(size);
        }
        None
    }

    fn times(&mut self, path: Path<'_>, text: &mut String) -> Option<Times> {
        let times = self.keep(path, Times::parse(text))?;
        *text = times.format();
        Some(times)
    }
}
