// SPDX-License-Identifier: Apache-2.0
//! Releases with their times: those of `--release`, and the tags of a git repository.

use jiff::tz::TimeZone;
use lab_model::LogAnalysis;
use std::path::Path;
use std::process::Command;

/// Releases, the earliest first.
#[derive(Debug)]
pub struct Releases {
    /// Those of `--release`: Unix time in seconds, and name.
    named: Vec<(i64, String)>,
    /// Those of a repository may be much older than the log.
    tags: Vec<(i64, String)>,
}

impl Releases {
    /// Parses those that were named, and reads the tags of a git repository. Errors: one cannot be parsed, or the
    /// repository cannot be read.
    pub fn new(
        named: &[String],
        git_tags: Option<&Path>,
        zone: Option<&str>,
    ) -> Result<Releases, String> {
        let named = named.iter().map(|text| release(text, zone));
        let tags = git_tags.map(tags).transpose()?;
        Ok(Releases {
            named: named.collect::<Result<_, _>>()?,
            tags: tags.unwrap_or_default(),
        })
    }

    /// Those of `--release`, and the tags that were made in the time of a log.
    pub fn in_log(&self, analysis: &LogAnalysis) -> Vec<(i64, String)> {
        let begin = analysis.hours.first().map_or(i64::MAX, |h| h.start_s);
        let end = analysis.hours.last().map_or(i64::MIN, |h| h.start_s + 3600);
        let tags = self.tags.iter().filter(|(at, _)| (begin..end).contains(at));
        let mut releases: Vec<_> = self.named.iter().chain(tags).cloned().collect();
        releases.sort();
        releases
    }
}

/// The tags of a git repository, with the times at which they were made. Error: it is none, or git is not installed.
fn tags(repository: &Path) -> Result<Vec<(i64, String)>, String> {
    let error = |reason: &str| format!("--git-tags {}: {reason}", repository.display());
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args([
            "for-each-ref",
            "--format=%(creatordate:unix) %(refname:short)",
        ])
        .arg("refs/tags")
        .output()
        .map_err(|e| error(&format!("git cannot be started: {e}")))?;
    if !output.status.success() {
        return Err(error(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let tags = text.lines().filter_map(|line| {
        let (time, name) = line.split_once(' ')?;
        Some((time.parse().ok()?, name.to_owned()))
    });
    Ok(tags.collect())
}

/// `2026-05-01=v12`: when, and what. Error: it is neither a date nor a time, or has no name.
fn release(text: &str, zone: Option<&str>) -> Result<(i64, String), String> {
    let error = || {
        let text = text.escape_default();
        format!(
            "--release {text}: expected TIME=NAME, such as 2026-05-01=v12 or 2026-05-01T14:30=v12"
        )
    };
    let (time, name) = text
        .split_once('=')
        .filter(|(_, name)| !name.is_empty())
        .ok_or_else(error)?;
    if let Ok(time) = time.parse::<jiff::Timestamp>() {
        return Ok((time.as_second(), name.into()));
    }
    let date = time.parse::<jiff::civil::DateTime>();
    let date = date.or_else(|_| time.parse::<jiff::civil::Date>().map(|d| d.at(0, 0, 0, 0)));
    let zone = zone
        .map_or(Ok(TimeZone::UTC), TimeZone::get)
        .map_err(|e| e.to_string())?;
    let at = date
        .and_then(|date| date.to_zoned(zone))
        .map_err(|_| error())?;
    Ok((at.timestamp().as_second(), name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_times_with_names() {
        assert_eq!(
            release("2026-05-01=v12", None),
            Ok((1_777_593_600, "v12".into()))
        );
        assert_eq!(
            release("2026-05-01T14:30=a=b", Some("Europe/Berlin")),
            Ok((1_777_638_600, "a=b".into()))
        );
        assert_eq!(
            release("2026-05-01T14:30:00Z=x", None),
            Ok((1_777_645_800, "x".into()))
        );
        for bad in ["", "v12", "2026-13-01=x", "2026-05-01="] {
            assert!(release(bad, None).is_err(), "{bad}");
        }
    }
}
