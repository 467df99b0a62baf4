// SPDX-License-Identifier: Apache-2.0
//! Releases with their times, from `--release` and from the tags of a git repository.

use jiff::tz::TimeZone;
use lab_model::LogAnalysis;
use std::path::Path;
use std::process::Command;

/// Releases, earliest first.
#[derive(Debug)]
pub struct Releases {
    /// The releases of `--release`: Unix time in seconds, and name.
    named: Vec<(i64, String)>,
    /// The tags of a repository, which may be much older than the log.
    tags: Vec<(i64, String)>,
}

impl Releases {
    /// Parses the releases that the user named, and reads the tags of a git repository.
    ///
    /// Returns an error if a release is malformed or the repository cannot be read.
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

    /// Returns the releases of `--release`, and the tags created within the time span of a log.
    pub fn in_log(&self, analysis: &LogAnalysis) -> Vec<(i64, String)> {
        let begin = analysis.hours.first().map_or(i64::MAX, |h| h.start_s);
        let end = analysis.hours.last().map_or(i64::MIN, |h| h.start_s + 3600);
        let tags = self.tags.iter().filter(|(at, _)| (begin..end).contains(at));
        let mut releases: Vec<_> = self.named.iter().chain(tags).cloned().collect();
        releases.sort();
        releases
    }
}

/// Returns the tags of a git repository with their creation times.
///
/// Returns an error if the directory is not a repository or if git is not installed.
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
        .map_err(|e| error(&format!("cannot start git: {e}")))?;
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

/// Parses a release such as `2026-05-01=v12`.
///
/// Returns an error if the text has no name, or neither a date nor a time.
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
