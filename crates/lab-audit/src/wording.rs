// SPDX-License-Identifier: Apache-2.0
//! The texts of an audit's report, comparison, history and gate, and the messages about its options
//! and rules.
//!
//! The texts of rules are in `rules/`. The texts of probes are next to the values that they
//! describe.

#![allow(missing_docs, reason = "the texts are their own documentation")]

use crate::date::ClockDoubt;
use crate::page_choice::PageChoice;
use lab_document::say::{self, count};
use lab_model::audit::{AuditFinding, AuditKind, State, Waiver};
use std::fmt::Display;
use std::path::Path;

// Titles, headings and captions

pub const BAD: &str = "Problems";
pub const ADVICE: &str = "Advice";
pub const UNCHECKED: &str = "Could not be checked";
pub const GOOD: &str = "Good";
pub const NOT_APPLICABLE: &str = "Not applicable";
pub const ABOUT: &str = "Audited";
pub const FINDINGS: &str = "Findings";
pub const FINDINGS_CAPTION: &str = "One row per finding.";
pub const RULE: &str = "rule";
pub const OBJECT: &str = "object";
pub const OBSERVED: &str = "observed";
pub const WHY: &str = "why";
pub const HOW_TO_CHECK: &str = "how to check";
pub const SOURCE: &str = "source";
pub const NO_PLACE: &str = "–";
pub const CHANGED: &str = "Findings that changed";
pub const CHANGED_CAPTION: &str = "Findings whose state changed.";
pub const CHANGED_COLUMNS: [&str; 5] = ["rule", "object", "before", "after", "observed after"];
pub const ALONE: &str = "In one audit only";
pub const ALONE_CAPTION: &str = "Findings about objects that the other audit did not check.";
pub const ALONE_COLUMNS: [&str; 5] = ["audit", "rule", "object", "state", "observed"];
pub const FIGURES: &str = "Values that changed";
pub const FIGURES_CAPTION: &str = "Values that are in both audits.";
pub const FIGURES_COLUMNS: [&str; 4] = ["value", "object", "before", "after"];
pub const CHANGED_QUESTION: &str = "What changed from the first audit to the second?";
pub const OTHER_TARGETS: &str = "Different targets";
pub const WORSE: &str = "Worse";
pub const BETTER: &str = "Better";
/// The names of the two audits in a comparison.
pub const SIDES: [&str; 2] = ["first", "second"];
pub const AUDITS: &str = "Audits";
pub const AUDITS_CAPTION: &str = "Number of findings in each state, per audit.";
pub const AUDITS_COLUMNS: [&str; 2] = ["started (UTC)", "target"];
pub const HISTORY_QUESTION: &str = "How did the number of bad findings change over time?";
pub const HISTORY_SOURCE: &str =
    "The run files contain every finding; `benchlab diff` shows the changes between two of them.";
pub const BAD_NOW: &str = "Bad now";
pub const NEW: &str = "New since the previous audit";
pub const FIXED: &str = "Fixed since the previous audit";

// Sentences

pub const NOT_KEPT: &str = "The audit was not stored.";
pub const NO_CHANGE: &str = "No finding changed state.";

fn object_of_audit(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Host => "host",
        AuditKind::Cookies => "cookies",
        AuditKind::Site => "site",
        AuditKind::Net => "network",
    }
}

pub fn title(kind: AuditKind, targets: &[String]) -> String {
    format!("Audit of {}: {}", object_of_audit(kind), targets.join(", "))
}

pub fn question(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Host => "Is this host set up well?",
        AuditKind::Cookies => "What do the cookies cost, and who set them?",
        AuditKind::Site => "Is this site set up well?",
        AuditKind::Net => "Is IPv4 or IPv6 faster, and does either fail?",
    }
}

pub fn made(unix_s: f64) -> String {
    format!("{} UTC", say::minute(unix_s))
}

pub fn kept_in(file: &str) -> String {
    format!(
        "Stored in {file}. After a change, run the audit again and compare with `benchlab \
        diff BEFORE.lab AFTER.lab`."
    )
}

/// Formats the number of findings in each state: `2 problems, 9 suggestions, 27 checks passed, 3 not checked, 1
/// accepted.`
pub fn summary(count: impl Fn(State) -> usize, accepted: usize) -> String {
    let counted = |state, noun| Some(say::count(count(state), noun)).filter(|_| count(state) > 0);
    let problems = counted(State::Bad, "problem").unwrap_or_else(|| "no problems".into());
    let passed = |checks: String| format!("{checks} passed");
    let unchecked = count(State::Unknown);
    let parts = [
        Some(say::capital(&problems)),
        counted(State::Advice, "suggestion"),
        counted(State::Good, "check").map(passed),
        (unchecked > 0).then(|| format!("{unchecked} not checked")),
        (accepted > 0).then(|| format!("{accepted} accepted")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}.", parts.join(", "))
}

/// Formats the label of a finding: `Problem, disk-scheduler, sda and 2 more`. `is_known` is true if the user already
/// knows the object.
pub fn label(finding: &AuditFinding, is_known: bool, more: usize) -> String {
    let object = match (is_known, more) {
        (true, 0) => String::new(),
        (false, 0) => format!(", {}", finding.place),
        (_, more) => format!(", {} and {more} more", finding.place),
    };
    let state = match finding.state {
        State::Bad => "Problem",
        _ => "Suggestion",
    };
    format!("{state}, {}{object}", finding.rule)
}

/// Lists the kinds of servers for which there are fixes.
pub fn lines_for(servers: &[&str]) -> String {
    format!("Fixes are listed for {}.", say::list(servers))
}

/// Formats a command or a configuration line, for one kind of server or for all kinds.
pub fn to_do(server: &str, line: &str) -> String {
    let line = match line.contains('`') {
        true => line.into(),
        false => format!("`{line}`"),
    };
    match server {
        "" => format!("Fix: {line}"),
        server => format!("For {server}: {line}"),
    }
}

/// Formats the introduction of the lines for one kind of server.
pub fn for_server(server: &str) -> String {
    format!("For {server}:")
}

pub fn why(reason: &str) -> String {
    format!("Why: {reason}")
}

/// Lists the rules that could not be checked, with the reason.
pub fn unknown(rules: &[&str], reason: &str) -> String {
    format!("{}: {reason}", say::list(rules))
}

/// Lists many rules that could not be checked.
pub fn many_unknown(rules: &[&str]) -> String {
    format!(
        "{} could not be checked: {}. The details give the reasons.",
        say::count(rules.len(), "rule"),
        say::list(rules)
    )
}

pub fn changed_title(kind: AuditKind) -> String {
    format!("Two audits: {}", question(kind))
}

pub fn changed_made([before, after]: [f64; 2]) -> String {
    format!("{} and {} UTC", say::minute(before), say::minute(after))
}

pub fn changed_source(files: [&str; 2]) -> String {
    format!("{} contain all findings.", say::list(&files))
}

/// Formats a label with the number of findings that it covers.
pub fn counted_label(label: &str, findings: usize) -> String {
    format!("{label}, {findings}")
}

/// Describes a finding that became better or worse.
pub fn changed_finding(finding: &AuditFinding) -> String {
    format!("{} ({}): {}", finding.rule, finding.place, finding.seen)
}

/// Formats the number of bad findings and the number of suggestions, before and after.
pub fn counts(counts: [(State, [usize; 2]); 2]) -> String {
    let [bad, advice] = counts
        .map(|(state, [before, after])| format!("{}: from {before} to {after}", state.name()));
    format!("{bad}, {advice}.")
}

pub fn other_targets([before, after]: [&[String]; 2]) -> String {
    let [before, after] = [before, after].map(|targets| targets.join(", "));
    format!("The first audit is of {before}, the second of {after}.")
}

/// Lists the objects that only one audit checked.
pub fn only_in(side: &str, shown: &[&str], more: usize) -> String {
    let shown = shown.join(", ");
    match more {
        0 => format!("{side} audit: {shown}"),
        more => format!("{side} audit: {shown} and {more} more"),
    }
}

/// Describes the objects that only one of the audits checked.
pub fn in_one_only(sides: &[String]) -> String {
    format!("{}. These are neither better nor worse.", sides.join("; "))
}

pub fn seen_in_one(findings: usize) -> String {
    format!(
        "{} could be checked in only one of the audits.",
        count(findings, "finding")
    )
}

pub fn history_title(name: &str, audits: usize) -> String {
    format!("History of {name}: {}", count(audits, "audit"))
}

/// Lists rules in a sentence.
pub fn rules(rules: &[String]) -> String {
    if rules.is_empty() {
        "none.".into()
    } else {
        format!("{}.", say::list(rules))
    }
}

// Gates and waivers

/// The maximum number of findings that a gate names.
const MAX_NAMED_BY_GATE: usize = 5;

/// Counts a gate's findings and lists their rules: `2 findings are bad (clock-synchronized,
/// disk-scheduler (sda))`.
pub fn counted(findings: &[&AuditFinding], state: &str) -> String {
    let verb = if findings.len() == 1 { "is" } else { "are" };
    let name = |finding: &&AuditFinding| match finding.place.as_str() {
        "" => finding.rule.clone(),
        object => format!("{} ({object})", finding.rule),
    };
    let mut names: Vec<String> = findings.iter().take(MAX_NAMED_BY_GATE).map(name).collect();
    if findings.len() > MAX_NAMED_BY_GATE {
        names.push(format!("{} more", findings.len() - MAX_NAMED_BY_GATE));
    }
    let names = match names.as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    format!(
        "{} {verb} {state}{names}",
        say::count(findings.len(), "finding")
    )
}

pub const ACCEPTED: &str = "Accepted";
pub const ACCEPTED_CAPTION: &str =
    "Findings that a waiver accepts until a date. Totals and gates exclude them.";
pub const REASON: &str = "reason";
pub const UNTIL: &str = "until";
pub const WAIVERS: &str = "Waivers";

/// Formats a waiver as the user wrote it: `disk-scheduler:sda`.
fn waiver_name(waiver: &Waiver) -> String {
    match &waiver.object {
        Some(object) => format!("{}:{object}", waiver.rule),
        None => waiver.rule.clone(),
    }
}

/// States that a waiver is no longer valid.
pub fn expired(waiver: &Waiver) -> String {
    format!(
        "The waiver of {} ended on {}: its findings count again. Reason of the waiver: {}",
        waiver_name(waiver),
        waiver.until,
        waiver.reason
    )
}

/// Formats a waiver's reason and its last valid day, for formats that list problems.
pub fn accepted_until(waiver: &Waiver) -> String {
    format!("{} (until {})", waiver.reason, waiver.until)
}

/// States that a waiver covers no finding.
pub fn covers_nothing(waiver: &Waiver) -> String {
    format!(
        "The waiver of {} matches no finding that was checked: correct it, or remove it.",
        waiver_name(waiver)
    )
}

/// States that a waiver has no reason.
pub fn waiver_without_reason(rule: &str) -> String {
    format!("the waiver of {rule} has no reason; state why the findings are acceptable")
}

/// States that a waiver's date is invalid.
pub fn waiver_date(rule: &str, date: &str) -> String {
    format!(
        "the waiver of {rule}: expected a date such as 2027-03-31, got `{}`",
        date.escape_default()
    )
}

/// States that a waiver is for an unknown rule.
pub fn waiver_rule(rule: &str, rules: &[&str]) -> String {
    format!("the waiver of {}", unknown_rule(rule, rules))
}

/// States that an audit has no rule with the ID `rule`.
pub fn unknown_rule(rule: &str, rules: &[&str]) -> String {
    let mut known: Vec<&str> = rules.to_vec();
    known.sort_unstable();
    format!(
        "`{}`: this audit has no such rule; its rules: {}",
        rule.escape_default(),
        known.join(", ")
    )
}

// Texts of findings that the rules do not provide

/// Explains that a rule does not apply to an object because the object has no value `name`.
pub fn no_value(name: &str) -> String {
    format!("This object has no `{name}`.")
}

pub const RULE_NOT_APPLICABLE: &str = "The rule does not apply to this object.";

/// Explains that a rule does not apply to an object because the object does not meet `condition`.
pub fn only_where(condition: &str, actual: &str) -> String {
    format!("Applies only where `{condition}`; here the value is {actual}.")
}

/// Explains that a rule cannot be checked because its condition compares values of different types.
pub fn wrong_kind(condition: &str, name: &str, kind: &str) -> String {
    format!("The rule has `{condition}`, but `{name}` is a {kind}.")
}

/// Lists the objects that one finding names, and the number of further objects.
pub fn objects(named: &[&str], more: usize) -> String {
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

pub fn objects_in_state(objects: usize) -> String {
    format!("{}.", count(objects, "object"))
}

pub fn objects_and_first(objects: usize, first: &str) -> String {
    format!("{}; the first: {first}", count(objects, "object"))
}

// Rules

pub fn rule_error(file: &str, reason: &str) -> String {
    format!("rule {file}: {reason}")
}

pub fn malformed_condition(text: &str) -> String {
    format!("invalid condition `{text}`: expected `name = word` or `name > 5 MiB`")
}

pub fn not_a_number(condition: &str, text: &str) -> String {
    format!("`{condition}`: `{text}` is not a number")
}

pub fn unknown_class(class: &str, known: &str) -> String {
    format!("`of = \"{class}\"`: expected one of {known}")
}

pub fn unknown_value(class: &str, name: &str, known: &str) -> String {
    format!("class `{class}` has no value `{name}`; its values are {known}")
}

pub fn invalid_weight(weight: u8) -> String {
    format!("`weight = {weight}`: expected 1 to 9")
}

/// Returns the error for a rule that compares a number with a word, or a word with a number.
pub fn compared_kind(condition: &str, name: &str, compares_with_number: bool) -> String {
    let kind = if compares_with_number {
        "a word, not a number"
    } else {
        "a number, not a word"
    };
    format!("`{condition}`: `{name}` is {kind}")
}

// Options

pub const HOST_NAME: &str = "expected a host name or address, without scheme, port and path";
pub const ROOT_WITHOUT_PROC: &str =
    "the directory has no proc/; copy /proc, /sys and /etc of the machine into it";
pub const NO_DIRECT_IO: &str = "the filesystem does not support direct I/O";
pub const UNREADABLE: &str = "permission denied; run benchlab as root";
pub const TOO_SMALL: &str = "too small to measure; at least 4 MiB are needed";
pub const UNKNOWN_FILESYSTEM: &str = "findmnt cannot determine its filesystem";
pub const NO_FAST_FILESYSTEM: &str = "no fast filesystem was given; use --fast DIR";
pub const NOTHING_TO_MOVE: &str = "no directory needs to move";
pub const INPUT_FORMATS: &str = "expected a HAR file, a cookie jar of curl (cookies.txt), a \
    table or `Cookie:` line copied from a browser, or the JSON of a cookie editor";

/// Explains why an option or an input cannot be used.
pub fn unusable(option: &str, reason: &str) -> String {
    format!("{option}: {reason}")
}

pub fn unwritable(error: &dyn Display) -> String {
    format!("cannot create a file there: {error}")
}

pub fn too_little_space(free_mib: u64, needed_mib: u64) -> String {
    format!("{free_mib} MiB are free, but {needed_mib} MiB are needed")
}

pub fn no_uuid(directory: &Path) -> String {
    let directory = directory.display();
    format!("findmnt finds no UUID for the filesystem of {directory}, which the script needs")
}

pub fn too_long(limit_mib: u64) -> String {
    format!("longer than {limit_mib} MiB")
}

pub fn unknown_class_name(name: &str, known: &str) -> String {
    format!("unknown class `{name}`; the classes are {known}")
}

pub fn binary() -> String {
    format!("binary data; {INPUT_FORMATS}")
}

pub fn unknown_format() -> String {
    format!("unknown format; {INPUT_FORMATS}")
}

pub fn not_gzip(error: &dyn Display) -> String {
    format!("cannot decompress the gzip file: {error}")
}

pub const HAR_TIMES_ARE_NUMBERS: &str = "The timestamps in the HAR are numbers. benchlab determined \
    their unit (seconds, milliseconds or microseconds since 1970) by their size.";
pub const CHROME_OMITS_COOKIES: &str = "No request in the HAR carries a cookie. Chrome omits \
    cookies unless you allow HAR with sensitive data in the settings of its developer tools.";
pub const NO_JAR_COOKIE: &str = "the file looks like curl's cookie jar, but contains no cookie";
pub const ASSUMED_REQUESTS: &str = "A cookie file contains no requests, so benchlab assumes one \
    page request for each host.";

/// States that a HAR contained characters that are not valid in any encoding.
pub fn har_broken_text(characters: usize) -> String {
    let were = if characters == 1 { "was" } else { "were" };
    format!(
        "{} in the HAR {were} broken (half of a UTF-16 pair) and replaced with U+FFFD.",
        count(characters, "character")
    )
}

/// Explains how the page in a HAR was chosen. Returns `None` if there was no choice.
pub fn page_of_har(choice: PageChoice, is_first: bool) -> Option<&'static str> {
    match (choice, is_first) {
        (PageChoice::First, _) => Some(
            "The HAR contains neither a document nor HTML, so its first response is audited as \
            the page.",
        ),
        (_, true) => None,
        (PageChoice::Document, false) => {
            Some("The page is the first document in the HAR. Other requests precede it.")
        }
        (PageChoice::Html, false) => {
            Some("The page is the first HTML response in the HAR. Other requests precede it.")
        }
    }
}

/// States that lifetimes of cookies depend on an assumption.
pub fn doubtful_lifetimes(doubt: ClockDoubt, cookies: usize) -> String {
    let cookies = count(cookies, "cookie");
    match doubt {
        ClockDoubt::NoZone => format!(
            "The timestamps in the HAR have no time zone and were read as UTC. For {cookies} with \
            Expires, the lifetime can be off by up to 14 h."
        ),
        ClockDoubt::NoTime => format!(
            "For {cookies} with Expires, the time of the response is missing or cannot be read. \
            Each lifetime is counted from now, so it is too short, and no such cookie is treated \
            as expired."
        ),
        ClockDoubt::ExpiryWithoutZone => format!(
            "For {cookies}, the expiry date has no time zone and was read as UTC, so the lifetime \
            can be off by up to 14 h."
        ),
        ClockDoubt::NoExpiry => format!("For {cookies}, the expiry date cannot be read."),
    }
}

/// Explains why the lifetime of a cookie is unknown.
pub fn doubtful_lifetime(doubt: ClockDoubt) -> &'static str {
    match doubt {
        ClockDoubt::NoZone => {
            "The time at which the cookie was set has no time zone, so its lifetime is uncertain."
        }
        ClockDoubt::NoTime => "The time at which the cookie was set is unknown.",
        ClockDoubt::ExpiryWithoutZone => {
            "The expiry date of the cookie has no time zone, so its lifetime is uncertain."
        }
        ClockDoubt::NoExpiry => "The expiry date of the cookie cannot be read.",
    }
}

/// States how many cookies in a cookie file have expired, and that no request is assumed to carry
/// them.
pub fn expired_cookies(cookies: usize) -> String {
    let (have, them) = match cookies {
        1 => ("has", "it"),
        _ => ("have", "them"),
    };
    let cookies = count(cookies, "cookie");
    format!("{cookies} in the file {have} expired, so no request is assumed to carry {them}.")
}

pub const NO_SAME_SITE: &str = "The input does not contain the SameSite of the cookie.";
pub const NO_FIELDS: &str = "The HAR file does not contain the header fields of the response.";
pub const NO_CODING: &str = "The HAR file contains neither Content-Encoding nor the size as \
    sent, so compression is unknown.";

pub const NO_HAR: &str = "JSON without log.entries, so not a HAR file";

/// States that a file is JSON, but contains no cookies.
pub fn json_without_cookies() -> String {
    format!("JSON without cookies (name, value and domain); {INPUT_FORMATS}")
}

/// States that a file contains lines that are not cookies.
pub fn not_only_cookies() -> String {
    format!("unknown format; {INPUT_FORMATS}. Begin each field with `Cookie:` or `Set-Cookie:`")
}

pub const NO_RESPONSE: &str = "the HAR file contains no response to a GET request";
pub const NO_HOST: &str = "the URL has no host";
pub const NO_BODY: &str = "The HAR file does not contain the body.";
pub const NO_SENT_SIZE: &str = "The HAR file does not contain the size as sent.";
pub const FROM_CACHE: &str =
    "No body was sent, for example because the browser had it in its cache.";

pub fn not_json(error: &dyn Display) -> String {
    format!("invalid JSON: {error}")
}

// Progress and notes

pub const WRITING_SCRATCH: &str = "writing a scratch file";
pub const NAME_MEANING: &str = "the name of the object";
pub const VALUES_HINT: &str = "Show each value: benchlab audit values CLASS";

pub fn measuring_disks(done: u64, rounds: u64) -> String {
    format!("measuring disks: {done} of {rounds} rounds")
}

pub fn watching_files(elapsed_s: u64, total_s: u64) -> String {
    format!("watching files: {elapsed_s} of {total_s} s; Ctrl-C stops")
}

pub fn rounds(host: &str, done: u32, rounds: u32) -> String {
    format!("{host}: {done} of {rounds} rounds")
}

pub fn script_written(path: &Path) -> String {
    let path = path.display();
    format!("script written to {path}; `sh {path}` shows what it would do")
}

pub fn no_script(reason: &str) -> String {
    format!("no script was written: {reason}")
}

pub fn report_written(page: &Path) -> String {
    format!("the report is in {}", page.display())
}

pub fn no_namespaces(reason: &str) -> String {
    format!("the comparison between two network namespaces was skipped: {reason}")
}

pub fn meanings_hint(class: &str) -> String {
    format!("Describe each value: benchlab audit values {class} --full")
}

pub fn class_summary(values: &str, names: &str) -> String {
    format!("{values}, such as {names}")
}
