//! The byte queue limits of a device queue.

use super::dynamic_queue_limits::DynamicQueueLimits;
use crate::base::time::Time;

/// What they know of the device.
#[derive(Debug)]
pub struct ByteLimits {
    limits: DynamicQueueLimits,
    /// They have told the queue discipline to wait.
    stopped: bool,
    /// Of all bytes that the device has begun to send, what they know.
    reported: u64,
}

impl ByteLimits {
    pub fn new(hold_time: Time) -> Self {
        ByteLimits { limits: DynamicQueueLimits::new(hold_time), stopped: false, reported: 0 }
    }

    /// The device queue takes a packet.  Returns whether the discipline has to wait.
    pub fn on_queued(&mut self, bytes: u32) -> bool {
        self.limits.on_queued(bytes);
        self.stopped |= !self.limits.is_available();
        self.stopped
    }

    /// `sent` bytes have left the device queue by now.  Returns whether there is still too much.
    pub fn on_sent(&mut self, sent: u64, now: Time) -> bool {
        self.limits.on_completed((sent - self.reported) as u32, now);
        self.reported = sent;
        self.stopped &= !self.limits.is_available();
        self.stopped
    }
}
