// SPDX-License-Identifier: Apache-2.0
//! The load that is put on a server at a point, and the parameters that say so in words.

use serde::{Deserialize, Serialize};

/// The parameter that says over how many connections.
pub const CONNECTIONS: &str = "connections";

/// The parameter that says whether a connection serves one request after the other: `yes` or `no`.
pub const KEEP_ALIVE: &str = "keep_alive";

/// The parameter that says when requests are sent.
pub const LOAD: &str = "load";

/// The value of [`LOAD`] at which requests are sent as fast as they are answered; the others are parts of
/// what a subject served then at the most, such as `25%`, or rates that are the same for all, such as `500/s`.
pub const CLOSED: &str = "closed";

/// The load that is put on a server at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointLoad {
    /// Connections, at least 1.
    pub connections: u32,
    /// A connection serves one request after the other; else each request opens one of its own.
    pub keep_alive: bool,
    /// When requests are sent.
    pub traffic: Traffic,
}

/// When requests are sent at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// As [`crate::Load::arrivals`] says.
    Planned,
    /// As soon as the connection's last one is answered.
    Closed,
    /// When they are due, at this part of what the subject serves in a closed loop at the most, 0 to 1.
    PartOfPeak(f64),
    /// When they are due, so many a second for every subject.
    Rate(f64),
}

impl Traffic {
    /// The value of [`LOAD`]; `None`: it is none.
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

/// The value of [`KEEP_ALIVE`]; `None`: it is none.
pub fn read_keep_alive(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

impl PointLoad {
    /// Reads the load from the parameters of a point; `keep_alive` is the default for points without one.
    /// Error: an invalid value.
    pub fn read(params: &[(String, String)], keep_alive: bool) -> Result<PointLoad, String> {
        let mut load = PointLoad {
            connections: 1,
            keep_alive,
            traffic: Traffic::Planned,
        };
        for (name, word) in params {
            let unknown = || format!("`{name}={word}` is no parameter of a load");
            match name.as_str() {
                CONNECTIONS => load.connections = word.parse().map_err(|_| unknown())?,
                KEEP_ALIVE => load.keep_alive = read_keep_alive(word).ok_or_else(unknown)?,
                LOAD => load.traffic = Traffic::read(word).ok_or_else(unknown)?,
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
            ("keep_alive", "true"),
            ("load", "0%"),
            ("load", "half"),
            ("load", "0/s"),
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
    }
}
