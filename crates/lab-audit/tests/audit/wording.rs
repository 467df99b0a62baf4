// SPDX-License-Identifier: Apache-2.0
//! A reviewed snapshot of every sentence of reports with sample values, and a check that reports
//! contain no other sentences. `INSTA_UPDATE=always` writes the snapshot.

use lab_audit::wording::*;
use lab_audit::{ClockDoubt, PageChoice};
use lab_model::audit::{AuditFinding, AuditKind, State, Waiver};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const TIME: f64 = 1_795_425_300.0;

fn finding() -> AuditFinding {
    AuditFinding {
        rule: "disk-scheduler".into(),
        area: "disks".into(),
        title: "The scheduler suits the disk".into(),
        place: "sda".into(),
        state: State::Bad,
        weight: 5,
        seen: "The scheduler is bfq.".into(),
        cost: String::new(),
        why: "Why.".into(),
        fixes: Vec::new(),
        see: String::new(),
        source: "https://example.org".into(),
        evidence: Vec::new(),
    }
}

macro_rules! constants {
    ($text:ident: $($name:ident)*) => { $(let _ = writeln!($text, "{}: {:?}", stringify!($name), $name);)* };
}

#[test]
fn every_sentence() {
    let mut text = String::new();
    constants!(text: BAD ADVICE UNCHECKED GOOD NOT_APPLICABLE ABOUT FINDINGS FINDINGS_CAPTION RULE OBJECT OBSERVED WHY
        HOW_TO_CHECK SOURCE  NO_PLACE CHANGED CHANGED_CAPTION CHANGED_COLUMNS ALONE ALONE_CAPTION ALONE_COLUMNS
        FIGURES FIGURES_CAPTION FIGURES_COLUMNS CHANGED_QUESTION OTHER_TARGETS WORSE BETTER SIDES AUDITS AUDITS_CAPTION
        AUDITS_COLUMNS HISTORY_QUESTION HISTORY_SOURCE BAD_NOW NEW FIXED NOT_KEPT NO_CHANGE
        RULE_NOT_APPLICABLE HOST_NAME ROOT_WITHOUT_PROC NO_DIRECT_IO UNREADABLE TOO_SMALL UNKNOWN_FILESYSTEM
        NO_FAST_FILESYSTEM NOTHING_TO_MOVE INPUT_FORMATS NO_HAR NO_RESPONSE NO_HOST NO_BODY
        NO_SENT_SIZE FROM_CACHE HAR_TIMES_ARE_NUMBERS CHROME_OMITS_COOKIES NO_JAR_COOKIE ASSUMED_REQUESTS
        NO_SAME_SITE NO_FIELDS NO_CODING WRITING_SCRATCH NAME_MEANING
        VALUES_HINT ACCEPTED ACCEPTED_CAPTION REASON UNTIL WAIVERS);
    let add = &mut |name: &str, sentences: &[String]| {
        for sentence in sentences {
            let _ = writeln!(text, "{name}: {sentence}");
        }
    };
    let kinds = [
        AuditKind::Host,
        AuditKind::Cookies,
        AuditKind::Site,
        AuditKind::Net,
    ];
    let names =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).into()).collect() };
    let counts_of = |bad: usize, advice: usize, unknown: usize| {
        move |state| match state {
            State::Bad => bad,
            State::Advice => advice,
            State::Unknown => unknown,
            State::Good => 40,
            State::NotApplicable => 7,
        }
    };
    add("title", &kinds.map(|kind| title(kind, &names(&["a", "b"]))));
    add("question", &kinds.map(|kind| question(kind).to_owned()));
    add("made", &[made(TIME)]);
    add("kept_in", &[kept_in("runs/a.lab")]);
    add(
        "summary",
        &[
            summary(counts_of(1, 2, 0), 0),
            summary(counts_of(2, 0, 3), 0),
            summary(counts_of(0, 0, 0), 1),
        ],
    );
    let labels = [(true, 0), (false, 0), (true, 2), (false, 2)];
    add(
        "label",
        &labels.map(|(is_known, more)| label(&finding(), is_known, more)),
    );
    add("lines_for", &[lines_for(&["nginx", "Apache"])]);
    add("to_do", &[to_do("", "echo 1"), to_do("nginx", "gzip on;")]);
    add("for_server", &[for_server("nginx")]);
    add("why", &[why("Disks differ.")]);
    add(
        "unknown",
        &[unknown(
            &["disk-health", "disk-endurance"],
            "smartctl needs root.",
        )],
    );
    add(
        "many_unknown",
        &[many_unknown(&["disk-health", "cpu-steal"])],
    );
    add("changed_title", &[changed_title(AuditKind::Host)]);
    add("changed_made", &[changed_made([TIME, TIME + 3600.0])]);
    add("changed_source", &[changed_source(["a.lab", "b.lab"])]);
    add("counted_label", &[counted_label(WORSE, 3)]);
    add("changed_finding", &[changed_finding(&finding())]);
    add(
        "counts",
        &[counts([(State::Bad, [1, 0]), (State::Advice, [2, 3])])],
    );
    let targets = [names(&["a", "b"]), names(&["c"])];
    add(
        "other_targets",
        &[other_targets([&targets[0], &targets[1]])],
    );
    let sides = [
        only_in("first", &["sda"], 0),
        only_in("second", &["sdb", "sdc"], 2),
    ];
    add("only_in", &sides);
    add("in_one_only", &[in_one_only(&sides)]);
    add("seen_in_one", &[seen_in_one(1), seen_in_one(2)]);
    add(
        "history_title",
        &[
            history_title("audit-host", 1),
            history_title("audit-host", 5),
        ],
    );
    add(
        "rules",
        &[rules(&[]), rules(&names(&["cpu-turbo", "disk-queue"]))],
    );
    let one = finding();
    add(
        "counted",
        &[
            counted(&[], "bad"),
            counted(&[&one], "bad"),
            counted(&[&one; 7], "worse"),
        ],
    );
    let waiver = |object: Option<&str>| Waiver {
        rule: "disk-scheduler".into(),
        object: object.map(String::from),
        reason: "the disk is virtual".into(),
        until: "2027-03-31".into(),
    };
    add(
        "expired",
        &[expired(&waiver(None)), expired(&waiver(Some("sda")))],
    );
    add("accepted_until", &[accepted_until(&waiver(None))]);
    add("covers_nothing", &[covers_nothing(&waiver(Some("sdz")))]);
    add(
        "waiver_without_reason",
        &[waiver_without_reason("disk-scheduler")],
    );
    add("waiver_date", &[waiver_date("disk-scheduler", "soon")]);
    add(
        "waiver_rule",
        &[waiver_rule("disk-x", &["disk-scheduler", "disk-health"])],
    );
    add(
        "unknown_rule",
        &[unknown_rule("disk-x", &["disk-scheduler"])],
    );
    let condition = "scheduler = none";
    add("no_value", &[no_value("scheduler")]);
    add("only_where", &[only_where(condition, "bfq")]);
    add(
        "wrong_kind",
        &[wrong_kind("cores = many", "cores", "number")],
    );
    add(
        "objects",
        &[objects(&["sda", "sdb"], 0), objects(&["sda", "sdb"], 2)],
    );
    add("objects_in_state", &[objects_in_state(2)]);
    add("objects_and_first", &[objects_and_first(2, "It is bfq.")]);
    add("rule_error", &[rule_error("own/a.toml", "a reason")]);
    add("malformed_condition", &[malformed_condition("cores ~ 4")]);
    add("not_a_number", &[not_a_number("size > x MiB", "x MiB")]);
    add("unknown_class", &[unknown_class("disks", "disk, host")]);
    add(
        "unknown_value",
        &[unknown_value("host", "corse", "cores, governor")],
    );
    add("invalid_weight", &[invalid_weight(99)]);
    add(
        "compared_kind",
        &[true, false].map(|number| compared_kind(condition, "scheduler", number)),
    );
    add("unusable", &[unusable("--root a", ROOT_WITHOUT_PROC)]);
    add("unwritable", &[unwritable(&"read-only file system")]);
    add("too_little_space", &[too_little_space(100, 512)]);
    add("no_uuid", &[no_uuid(Path::new("/mnt/ssd"))]);
    add("too_long", &[too_long(64)]);
    add(
        "unknown_class_name",
        &[unknown_class_name("disks", "disk, host")],
    );
    add("binary", &[binary()]);
    add("unknown_format", &[unknown_format()]);
    add("not_json", &[not_json(&"expected `,` at line 3")]);
    add("not_gzip", &[not_gzip(&"unexpected end of file")]);
    add("json_without_cookies", &[json_without_cookies()]);
    add("not_only_cookies", &[not_only_cookies()]);
    add("har_broken_text", &[har_broken_text(1), har_broken_text(2)]);
    let choices = [PageChoice::Document, PageChoice::Html, PageChoice::First];
    let chosen = choices.map(|choice| page_of_har(choice, false).unwrap_or("").to_owned());
    add("page_of_har", &chosen);
    let doubts = [
        ClockDoubt::NoZone,
        ClockDoubt::NoTime,
        ClockDoubt::ExpiryWithoutZone,
        ClockDoubt::NoExpiry,
    ];
    add(
        "doubtful_lifetimes",
        &doubts.map(|doubt| doubtful_lifetimes(doubt, 2)),
    );
    add(
        "doubtful_lifetime",
        &doubts.map(|doubt| doubtful_lifetime(doubt).to_owned()),
    );
    add("expired_cookies", &[expired_cookies(1), expired_cookies(2)]);
    add("measuring_disks", &[measuring_disks(3, 20)]);
    add("watching_files", &[watching_files(30, 600)]);
    add("rounds", &[rounds("www.example.org", 3, 20)]);
    add("script_written", &[script_written(Path::new("move.sh"))]);
    add("no_script", &[no_script(NOTHING_TO_MOVE)]);
    add(
        "report_written",
        &[report_written(Path::new("runs/a.html"))],
    );
    add("no_namespaces", &[no_namespaces("permission denied")]);
    add("meanings_hint", &[meanings_hint("host")]);
    add(
        "class_summary",
        &[class_summary("20 values", "model, medium, size")],
    );
    insta::assert_snapshot!(text);
}

/// Every new sentence must have a line in the snapshot.
#[test]
fn the_snapshot_has_every_name() {
    let test = include_str!("wording.rs");
    for line in fs::read_to_string(src().join("wording.rs"))
        .expect("a text")
        .lines()
    {
        let name = ["pub fn ", "pub const "]
            .iter()
            .find_map(|word| line.strip_prefix(word));
        if let Some(name) = name.and_then(|rest| rest.split(['(', ':']).next()) {
            let is_shown = test.contains(&format!("\"{name}\""))
                || test
                    .split_whitespace()
                    .any(|word| word.trim_end_matches([')', ';']) == name);
            assert!(is_shown, "{name} is not in the snapshot");
        }
    }
}

/// Files that keep all their sentences in `wording.rs`. The files of `report` do, too.
const FILES: [&str; 5] = [
    "condition.rs",
    "judge.rs",
    "rule.rs",
    "storage/target.rs",
    "user_rules.rs",
];

/// Outside unit tests, no string literal of these files contains three consecutive words, or a word
/// and a period.
#[test]
fn no_sentence_stands_elsewhere() {
    let entries = fs::read_dir(src().join("report")).expect("a folder");
    let reports = entries.map(|entry| entry.expect("an entry").path());
    let paths: Vec<PathBuf> = reports.chain(FILES.map(|file| src().join(file))).collect();
    assert!(paths.len() > FILES.len() + 3);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for literal in literals(code) {
            assert!(!is_sentence(&literal), "{}: {literal}", path.display());
        }
    }
    assert!(is_sentence("there is nothing") && is_sentence("It ends."));
    assert!(!is_sentence("looked-at") && !is_sentence("{} {}"));
}

fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let words = text.split_whitespace().filter(is_word).count();
    words > 2 || words > 0 && text.ends_with('.')
}

/// Returns the string literals of a source text without its comments.
fn literals(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'");
    text.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
