// SPDX-License-Identifier: Apache-2.0
//! The owners of cookies, from a list of trackers by name and domain. `data/README.md` names the list's source.

use std::sync::LazyLock;

/// The date of the list of trackers.
pub const LIST_DATE: &str = "2026-01-21";
/// The name and license of the list of trackers.
pub const LIST: &str = "Open Cookie Database, Apache-2.0";

static TRACKERS: LazyLock<Vec<Tracker>> = LazyLock::new(|| {
    let files = [
        include_str!("../../data/trackers.csv"),
        include_str!("../../data/trackers-more.csv"),
    ];
    files.iter().flat_map(|text| read(text)).collect()
});

struct Tracker {
    name: String,
    is_prefix: bool,
    domain: String,
    owner: String,
}

/// The owner of a cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A tracker in the list.
    Tracker(String),
    /// The site itself.
    FirstParty,
    /// Another site that is not in the list, or any site if the page's host is unknown.
    Unknown,
}

impl Owner {
    /// Returns the owner's name in words.
    pub fn name(&self) -> &str {
        match self {
            Owner::Tracker(name) => name,
            Owner::FirstParty => "first party",
            Owner::Unknown => "unknown",
        }
    }
}

/// Returns the owner of a cookie. `site` is the host of the page on which the cookie was seen, if known.
pub fn owner(name: &str, domain: &str, site: Option<&str>) -> Owner {
    let of_tracker = TRACKERS.iter().find(|tracker| tracker.sets(name, domain));
    match (of_tracker, site) {
        (Some(tracker), _) => Owner::Tracker(tracker.owner.clone()),
        (None, Some(site)) if is_within(site, domain) || is_within(domain, site) => {
            Owner::FirstParty
        }
        (None, _) => Owner::Unknown,
    }
}

/// Returns true if a host is the given domain or one of its subdomains (RFC 6265, 5.1.3).
pub fn is_within(host: &str, domain: &str) -> bool {
    let (host, domain) = (
        host.to_ascii_lowercase(),
        domain.trim_start_matches('.').to_ascii_lowercase(),
    );
    let is_below = host
        .strip_suffix(&domain)
        .is_some_and(|rest| rest.ends_with('.'));
    !domain.is_empty() && (host == domain || is_below)
}

impl Tracker {
    fn sets(&self, name: &str, domain: &str) -> bool {
        let name_matches = if self.is_prefix {
            name.starts_with(&self.name)
        } else {
            name == self.name
        };
        if !name_matches {
            return false;
        }
        // A name such as `__utmv` identifies a tracker even without its domain, but a name such as
        // `id` does not.
        let is_distinctive = self.name.starts_with('_') && self.name.len() >= 3;
        let domain_matches = if self.domain.is_empty() {
            is_distinctive || self.name.len() >= 6
        } else {
            is_within(domain, &self.domain)
        };
        domain_matches || is_distinctive
    }
}

fn read(text: &str) -> Vec<Tracker> {
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let records = rows.records().filter_map(Result::ok);
    let tracker = |row: csv::StringRecord| {
        let field = |at: usize| row.get(at).unwrap_or_default().to_owned();
        Tracker {
            name: field(0),
            is_prefix: field(1) == "1",
            domain: field(2),
            owner: field(3),
        }
    };
    records.map(tracker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_come_from_names_and_domains() {
        let site = Some("shop.example");
        let tracker = |name: &str| Owner::Tracker(name.into());
        assert_eq!(
            owner("__utmv", "shop.example", site),
            tracker("Google Analytics")
        );
        assert_eq!(
            owner("_ga_ABC123", "shop.example", site),
            tracker("Google Analytics")
        );
        assert_eq!(owner("__qseg", "shop.example", site), tracker("Quantcast"));
        assert_eq!(owner("mc", ".quantserve.com", site), tracker("Quantcast"));
        assert_eq!(owner("mc", "shop.example", site), Owner::FirstParty);
        assert_eq!(owner("mc", "ads.example", site), Owner::Unknown);
        assert_eq!(
            owner("sid", ".shop.example", Some("www.shop.example")),
            Owner::FirstParty
        );
        assert!(!is_within("evilshop.example", "shop.example"));
    }
}
