//! Checks of packets that do not fit the links of their path, and are sent in fragments.

use std::collections::BTreeMap;

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::units;
use ccperf_engine::host::tcp::socket_params::{SOCKET, headers_of_data};
use ccperf_engine::packet::{IP_HEADER, UDP_HEADER};
use ccperf_schema::written::{Application, Flow};

use super::check::{Path, Report};
use super::room::Room;

impl Report {
    /// `path`: of the socket's attributes.
    pub(super) fn segment_size(
        &mut self,
        path: Path<'_>,
        tcp: &BTreeMap<String, String>,
        room: Option<Room>,
    ) {
        let socket = Attributes::new(&SOCKET, tcp);
        let headers = headers_of_data(&socket);
        let bytes = socket.u32("SegmentSize");
        if let Some((most, why)) = room.and_then(|room| room.refuses(bytes.into(), headers)) {
            self.add(
                format!("{path}.SegmentSize"),
                format!(
                    "{bytes} bytes and {headers} of headers exceed {why}; write at most {most}"
                ),
            );
        }
    }

    /// A write is a datagram.
    pub(super) fn datagram_size(&mut self, path: Path<'_>, flow: &Flow, room: Option<Room>) {
        let headers = IP_HEADER + UDP_HEADER;
        let Ok(bytes) = units::parse_size(flow.application.write()) else { return };
        if !matches!(flow.application, Application::Greedy { .. })
            && let Some((most, why)) = room.and_then(|room| room.refuses(bytes, headers))
        {
            self.add(
                format!("{path}.application.write"),
                format!(
                    "a datagram of {bytes} bytes and {headers} of headers exceeds {why}; write at \
                     most {most}B"
                ),
            );
        }
    }
}
