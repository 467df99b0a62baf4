// SPDX-License-Identifier: Apache-2.0
//! The user's rules for routes, bots and health checks. Rules for routes take precedence over
//! learned routes.
//!
//! There is one rule per line, and the first matching rule applies: `/users/{id}`,
//! `/files/{path...}`, `/a/{x} -> /b`, `health /up`, `bot acme-sync`.

use lab_model::PageKind;

/// The content of a rules file.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    routes: Vec<Route>,
    checks: Vec<Route>,
    bots: Vec<String>,
}

#[derive(Clone, Debug)]
struct Route {
    segments: Vec<RouteSegment>,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RouteSegment {
    Fixed(String),
    Any,
    /// All remaining segments.
    Rest,
}

impl Rules {
    /// Parses a rules file. Returns an error that names the invalid line.
    pub fn new(text: &str) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or("").trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let malformed = |reason: &str| format!("line {}: {line:?}: {reason}", number + 1);
            if let Some(word) = line.strip_prefix("bot ") {
                rules.bots.push(word.trim().to_ascii_lowercase());
            } else if let Some(path) = line.strip_prefix("health ") {
                rules
                    .checks
                    .push(Route::new(path.trim()).map_err(malformed)?);
            } else {
                rules.routes.push(Route::new(line).map_err(malformed)?);
            }
        }
        Ok(rules)
    }

    /// Returns the route of a path.
    pub fn route(&self, path: &[u8]) -> Option<&str> {
        self.routes
            .iter()
            .find(|r| r.matches(path))
            .map(|r| r.name.as_str())
    }

    /// Returns true if only health checks request the path.
    pub fn is_check(&self, path: &[u8]) -> bool {
        self.checks.iter().any(|r| r.matches(path))
    }

    /// Returns the kind and the name of a client that a rule classifies as a bot.
    pub fn agent(&self, agent: &[u8]) -> Option<(PageKind, String)> {
        if self.bots.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(agent).to_ascii_lowercase();
        let word = self.bots.iter().find(|word| text.contains(word.as_str()))?;
        Some((PageKind::Bot, word.clone()))
    }

    /// Returns true if any rule has a fixed numeric segment.
    pub fn distinguish_numbers(&self) -> bool {
        let mut segments = self
            .routes
            .iter()
            .chain(&self.checks)
            .flat_map(|r| &r.segments);
        segments.any(
            |s| matches!(s, RouteSegment::Fixed(text) if crate::route::is_number(text.as_bytes())),
        )
    }

    /// Returns true if a rule assigns the name `route` to a route.
    pub fn has_route_named(&self, route: &str) -> bool {
        self.routes.iter().any(|r| r.name == route)
    }
}

impl Route {
    fn new(line: &str) -> Result<Route, &'static str> {
        let (pattern, name) = line.split_once(" -> ").unwrap_or((line, line));
        let path = pattern
            .trim()
            .strip_prefix('/')
            .ok_or("expected a path, such as /users/{id}")?;
        let segment = |text: &str| match text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            Some(name) if name.ends_with("...") => RouteSegment::Rest,
            Some(_) => RouteSegment::Any,
            None => RouteSegment::Fixed(text.into()),
        };
        let segments: Vec<RouteSegment> = path.split('/').map(segment).collect();
        if segments
            .iter()
            .rev()
            .skip(1)
            .any(|s| *s == RouteSegment::Rest)
        {
            return Err("a segment with ... must be the last segment");
        }
        Ok(Route {
            segments,
            name: crate::route::cut(crate::route::printable(name.trim().as_bytes())),
        })
    }

    fn matches(&self, path: &[u8]) -> bool {
        let Some(path) = path.strip_prefix(b"/") else {
            return false;
        };
        let mut words = path.split(|b| *b == b'/');
        for segment in &self.segments {
            match (segment, words.next()) {
                (RouteSegment::Rest, _) => return true,
                (RouteSegment::Any, Some(word)) if !word.is_empty() => {}
                (RouteSegment::Fixed(text), Some(word)) if text.as_bytes() == word => {}
                _ => return false,
            }
        }
        words.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let text = "# mine\n/users/me\n/users/{name}\n/files/{path...} -> /files\nhealth /up # x\nbot Acme\n";
        let rules = Rules::new(text).expect("rules");
        assert_eq!(rules.route(b"/users/me"), Some("/users/me"));
        assert_eq!(rules.route(b"/users/ann"), Some("/users/{name}"));
        assert_eq!(rules.route(b"/users/ann/x"), None);
        assert_eq!(rules.route(b"/files/a/b/c"), Some("/files"));
        assert!(rules.is_check(b"/up") && !rules.is_check(b"/upper"));
        assert_eq!(
            rules.agent(b"acme-sync/2"),
            Some((PageKind::Bot, "acme".into()))
        );
        let wrong = Rules::new("\nusers").expect_err("no path");
        assert!(wrong.starts_with("line 2:"), "{wrong}");
        assert!(Rules::new("/{a...}/b").is_err());
    }
}
