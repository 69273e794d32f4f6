//! ns-3 3.44's `TcpSocketBase` and its helpers.

use super::Profile;
use crate::base::time::Time;
use crate::host::tcp::acks::Delayed;
use crate::host::tcp::loss::Rfc6675;
use crate::host::tcp::pacing::CwndOverSrtt;
use crate::host::tcp::rtt::MeanDeviation;
use crate::packet::Ecn;

#[derive(Debug)]
pub struct Ns3;

impl Profile for Ns3 {
    const NAME: &str = "ns3-3.44";

    type Loss = Rfc6675;
    type Rtt = MeanDeviation;
    type Acks = Delayed;
    type Pacing = CwndOverSrtt;

    const INITIAL_RTT: Time = Time::from_secs(1);
    /// At least 60 s, says the RFC.
    const LONGEST_TIMEOUT: Time = Time::from_secs(60);
    /// Writes of the same instant go out together.
    const WRITE_DELAY: Time = Time(1);
    /// It looks whether the segment was retransmitted when the timeout has cleared that mark.
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool = true;
    const PARTIAL_ACK_SENDS: bool = true;

    /// In whole milliseconds, the unit of its timestamps; at least 1 us.
    #[inline]
    fn rtt_of_echo(now: Time, echo: u32) -> Time {
        let elapsed = (now.ms() as u32).saturating_sub(echo);
        Time::from_ms(u64::from(elapsed)).max(Time(1_000))
    }

    /// It takes the ECN bits of a type of service, 0, as a wish not to (against RFC 3168 section 5).
    #[inline]
    fn ecn(ect: Ecn, tos: u8) -> Ecn {
        if tos == 0 { ect } else { Ecn::NotEct }
    }
}
