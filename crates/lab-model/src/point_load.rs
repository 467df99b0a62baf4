// SPDX-License-Identifier: Apache-2.0
//! The load on a server at a point, and the parameters that define it.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The parameter for the number of connections.
pub const CONNECTIONS: &str = "connections";

/// The parameter that defines whether connections are reused: `yes` or `no`.
pub const KEEP_ALIVE: &str = "keep_alive";

/// The parameter that defines when requests are sent.
pub const LOAD: &str = "load";

/// The value of [`LOAD`] for a closed loop, in which each response triggers the next request.
///
/// The other values are fractions of a subject's peak throughput in the closed loop, such as `25%`,
/// or rates that are equal for all subjects, such as `500/s`.
pub const CLOSED: &str = "closed";

/// The load on a server at a point: the connections, and the rule that defines when requests are
/// sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointLoad {
    /// The number of connections, at least 1.
    pub connections: u32,
    /// True if connections are reused. Otherwise each request opens its own connection.
    pub keep_alive: bool,
    /// The rule that defines when requests are sent.
    pub traffic: Traffic,
}

/// The rule that defines when requests are sent at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// Requests are sent as defined by [`crate::LoadSpec::arrivals`].
    Planned,
    /// A request is sent as soon as the previous response on the connection has arrived.
    Closed,
    /// Requests are sent when they are due (open loop). Contains the rate as a fraction (0 to 1) of
    /// the subject's peak throughput in a closed loop.
    PartOfPeak(f64),
    /// Requests are sent when they are due (open loop). Contains the rate in requests per second,
    /// which is the same for every subject.
    Rate(f64),
}

impl Traffic {
    /// Parses the value of [`LOAD`]. Returns `None` if the value is invalid.
    pub fn read(word: &str) -> Option<Traffic> {
        if word == CLOSED {
            return Some(Traffic::Closed);
        }
        if let Some(rate) = word.strip_suffix("/s") {
            let rate: u32 = rate.parse().ok()?;
            return (rate > 0).then_some(Traffic::Rate(f64::from(rate)));
        }
        let percent: u32 = word.strip_suffix('%')?.parse().ok()?;
        let part = f64::from(percent) / 100.0;
        (1..=100)
            .contains(&percent)
            .then_some(Traffic::PartOfPeak(part))
    }
}

/// Parses the value of [`KEEP_ALIVE`]. Returns `None` if the value is invalid.
pub fn read_keep_alive(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

impl PointLoad {
    /// Reads the load from the parameters of a point. `keep_alive` is the default for points
    /// without the parameter [`KEEP_ALIVE`].
    ///
    /// # Errors
    /// Returns an error if a value is invalid.
    pub fn read(params: &[(String, String)], keep_alive: bool) -> Result<PointLoad, String> {
        let mut load = PointLoad {
            connections: 1,
            keep_alive,
            traffic: Traffic::Planned,
        };
        for (name, word) in params {
            let invalid = |expected: &str| {
                format!("`{name}={word}` is not a valid parameter of a load: expected {expected}")
            };
            match name.as_str() {
                CONNECTIONS => {
                    let connections: NonZeroU32 = word
                        .parse()
                        .map_err(|_| invalid("a whole number of at least 1"))?;
                    load.connections = connections.get();
                }
                KEEP_ALIVE => {
                    load.keep_alive = read_keep_alive(word).ok_or_else(|| invalid("yes or no"))?;
                }
                LOAD => {
                    let expected = "closed, a percentage such as 25%, or a rate such as 500/s";
                    load.traffic = Traffic::read(word).ok_or_else(|| invalid(expected))?;
                }
                _ => {}
            }
        }
        Ok(load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[(&str, &str)]) -> Result<PointLoad, String> {
        let owned = |(name, word): &(&str, &str)| (name.to_string(), word.to_string());
        let params: Vec<(String, String)> = words.iter().map(owned).collect();
        PointLoad::read(&params, true)
    }

    #[test]
    fn parameters_say_what_load_is_put_on() {
        let usual = PointLoad {
            connections: 1,
            keep_alive: true,
            traffic: Traffic::Planned,
        };
        assert_eq!(read(&[("limit", "7")]), Ok(usual));
        let all = [("connections", "64"), ("keep_alive", "no"), ("load", "25%")];
        let expected = PointLoad {
            connections: 64,
            keep_alive: false,
            traffic: Traffic::PartOfPeak(0.25),
        };
        assert_eq!(read(&all), Ok(expected));
        let rate = read(&[("load", "500/s")]).map(|load| load.traffic);
        assert_eq!(rate, Ok(Traffic::Rate(500.0)));
        let closed = read(&[("load", "closed")]).map(|load| load.traffic);
        assert_eq!(closed, Ok(Traffic::Closed));
        for wrong in [
            ("connections", "x"),
            ("connections", "0"),
            ("keep_alive", "true"),
            ("load", "0%"),
            ("load", "half"),
            ("load", "0/s"),
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
    }
}
