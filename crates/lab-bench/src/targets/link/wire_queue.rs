// SPDX-License-Identifier: Apache-2.0
//! One direction of a shaped link: computes the arrival time of each packet.

use lab_model::Shape;
use std::time::{Duration, Instant};

/// A queue in front of a wire. Packets leave the queue one by one at the rate of the wire, and arrive after its delay.
pub struct WireQueue {
    ns_per_byte: f64,
    delay: Duration,
    free_at: Instant,
}

impl WireQueue {
    /// Creates the queues from the client to the server and back.
    pub fn pair(shape: &Shape) -> [WireQueue; 2] {
        [shape.up_kbit_s, shape.down_kbit_s].map(|kbit_s| WireQueue {
            ns_per_byte: 8e6 / f64::from(kbit_s),
            delay: Duration::from_secs_f64(shape.round_trip_ms / 2e3),
            free_at: Instant::now(),
        })
    }

    /// Returns the arrival time of the last byte of a packet that is sent now.
    pub fn arrival(&mut self, now: Instant, bytes: usize) -> Instant {
        let on_the_wire = Duration::from_nanos((bytes as f64 * self.ns_per_byte) as u64);
        self.free_at = self.free_at.max(now) + on_the_wire;
        self.free_at + self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::Shaper;

    #[test]
    fn packets_queue_for_the_wire_and_not_for_the_delay() {
        let shape = Shape {
            up_kbit_s: 1000,
            down_kbit_s: 8000,
            round_trip_ms: 28.0,
            mtu: 1500,
            by: Shaper::Lab,
        };
        let [mut up, mut down] = WireQueue::pair(&shape);
        let now = Instant::now() + Duration::from_secs(1);
        let ms = |at: Instant| (at - now).as_secs_f64() * 1e3;
        let close = |at: Instant, expected_ms: f64| {
            assert!((ms(at) - expected_ms).abs() < 1e-3, "{}", ms(at))
        };
        // 1,500 bytes at 1 Mbit/s take 12 ms. The second packet waits for the first.
        close(up.arrival(now, 1500), 12.0 + 14.0);
        close(up.arrival(now, 500), 12.0 + 4.0 + 14.0);
        // The other direction has its own wire.
        close(down.arrival(now, 1500), 1.5 + 14.0);
        // After a pause the queue is empty.
        close(
            up.arrival(now + Duration::from_millis(50), 1500),
            50.0 + 12.0 + 14.0,
        );
    }
}
