// SPDX-License-Identifier: Apache-2.0
//! Snapshots every sentence with sample values. No other file may contain sentences.
//!
//! Review the snapshot after each change. `INSTA_UPDATE=always` updates it.

use lab_model::Unit;
use lab_profile::agreement::{Agreement, Outlook};
use lab_profile::heap::{NeverFreed, Sawtooth};
use lab_profile::wording::*;
use lab_profile::{
    Access, Cache, Children, CountRange, Ending, Explanation, FilesError, Found, Gap, Inconclusive,
    Layouts, RunWarning, Tool,
};
use lab_valgrind::{Churn, Frame, ProfileError, TimeUnit};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

const TIME: f64 = 1_795_425_300.0;
const LONG: Duration = Duration::from_millis(12_340);

fn range(least: u64, most: u64) -> CountRange {
    CountRange { least, most }
}

fn frame() -> Frame {
    Frame::parse("0x11: make_table (sax-symbols.adb:99)")
}

fn sample_churn(at_once: u64, same_size: bool) -> Churn {
    Churn {
        site: frame(),
        blocks: 127,
        bytes: 127 << 20,
        at_once,
        same_size,
        written: 127 << 20,
        read: 5,
    }
}

fn sample_explanation(touch: Access) -> Explanation {
    Explanation {
        churn: sample_churn(1, true),
        touch,
        passes: 1,
        cache: Cache {
            size: 49_152,
            line: 64,
        },
        lines: 16_384,
        predicted: 2_080_768,
        function: "make_table".into(),
        simulated: 2_090_768,
        fraction: 0.84,
    }
}

/// The lines of the snapshot.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, texts: &[String]) {
        for text in texts {
            let _ = writeln!(self.0, "{name}: {text}");
        }
    }
}

macro_rules! constants {
    ($lines:ident: $($name:ident)*) => { $($lines.add(stringify!($name), &[$name.to_string()]);)* };
}

macro_rules! lists {
    ($lines:ident: $($name:ident)*) => { $($lines.add(stringify!($name), &[format!("{:?}", $name)]);)* };
}

#[test]
fn every_sentence() {
    let mut lines = Lines::default();
    constants!(lines: WARNINGS CLOCK METHOD MEMORY COSTS LAYOUTS LAYOUTS_CAPTION LOWEST HIGHEST LOW_CHANGE
        HIGH_CHANGE BY_FUNCTION BY_LINE APPEARED VANISHED CALLS FLAMES
        HISTORY ANNOTATED HEAP SIMULATED MEASURED HEAP_TABLE HEAP_TABLE_CAPTION HEAP_CHART_CAPTION HEAP_AXIS ALLOCATED
        AT_PEAK NEVER_FREED NEVER_READ SHORT_LIVED AT_MASSIFS_PEAK BELOW_THRESHOLD CHURN_CAPTION TOTALS SHARES_CAPTION
        TOTALS_CAPTION COSTS_CAPTION COSTS_AXIS FUNCTIONS_CAPTION RANKED_CAPTION CALLS_CAPTION ANNOTATED_CAPTION
        ALLOCATIONS_FLAME ALLOCATIONS_FLAME_CAPTION COSTS_FLAME_CAPTION HISTORY_CAPTION FIGURE EVENT FUNCTION LINE
        LOCATION SOURCE_LINE COUNTERS_FACT COUNTERS_IN_TABLE UNKNOWN_PROGRAM COMMANDS_AND_WORDS TOO_MANY_REVISIONS SHELL
        NOT_INSTALLED STOPPED);
    lists!(lines: HEAP_ROWS CHURN_COLUMNS CALLS_COLUMNS HISTORY_COLUMNS PAIR_COLUMNS ONE_COLUMNS OUTPUT_FACT);
    let text = |text: &str| text.to_owned();
    let churned = [(1, true), (3, false)].map(|(at_once, same)| sample_churn(at_once, same));
    let figures_of = [
        "Ir",
        "Dr",
        "Dw",
        "D",
        "D1mr",
        "D1mw",
        "DLmr",
        "DLmw",
        "I1mr",
        "ILmr",
        "I1",
        "D1",
        "LL",
        "Bc",
        "Bi",
        "Bcm",
        "Bim",
        "mispredicts",
        "peak",
        "total",
        "allocations",
        "Ge",
    ];
    let endings = [
        Ending::Stopped(LONG),
        Ending::Exited(3),
        Ending::Signaled(Some("SIGSEGV")),
        Ending::Signaled(None),
    ];
    let outlooks = [Outlook::Agrees, Outlook::Disagrees, Outlook::Inconclusive];
    let add = &mut |name: &str, texts: &[String]| lines.add(name, texts);
    add(
        "default_names",
        &[1, 2].map(|n| default_names(n).join(", ")),
    );
    add("meaning", &figures_of.map(|event| text(meaning(event))));
    add(
        "unit",
        &figures_of.map(|event| format!("{:?}", unit(event))),
    );
    add("event_row", &["D1mw", "Ge"].map(event_row));
    add("tool", &Tool::ALL.map(|of| text(tool(of))));
    let times = [
        TimeUnit::Instructions,
        TimeUnit::Milliseconds,
        TimeUnit::Bytes,
    ];
    add("heap_time", &times.map(|unit| text(heap_time(unit).0)));
    add("function_and_location", &[function_and_location(&frame())]);
    add("question", &[true, false].map(|pair| text(question(pair))));
    add("title", &[title("a", None), title("a", Some("b"))]);
    add("made", &[made(TIME)]);
    add("origin", &[origin(None), origin(Some("runs/a.lab"))]);
    add(
        "unreadable_in_run",
        &[unreadable_in_run("there is no name")],
    );
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    add("not_kept", &[not_kept(&full)]);
    add(
        "heap_chart",
        &[heap_chart(true, "time"), heap_chart(false, "time")],
    );
    add("costs_chart", &[costs_chart(["before", "after"])]);
    add("by_function", &[by_function("Ir")]);
    add("by_line", &[by_line("Ir")]);
    add("calls_table", &[calls_table("before")]);
    add("churn_table", &[churn_table("before")]);
    add("annotated", &[annotated(12, "D1mw")]);
    add("flame", &[flame("D1 misses", "before")]);
    add("left_out", &[left_out(1), left_out(30)]);
    add("command_fact", &[command_fact("before")]);
    add("caches_fact", &[caches_fact("before")]);
    add("run", &[run(Tool::Dhat, "before")]);
    add(
        "step",
        &[step(3, 12, &[(Tool::Dhat, 0), (Tool::Callgrind, 1)])],
    );
    add(
        "run_fact",
        &endings.clone().map(|ending| run_fact(&ending, LONG)),
    );
    let processes = [
        Children::Uncounted,
        Children::Forked(1),
        Children::Forked(2),
    ];
    let processes = processes.map(|of| processes_fact("dhat of before", of).expect("a fact"));
    add(
        "processes_fact",
        &processes.map(|(name, text)| format!("{name} = {text}")),
    );
    let changes = [(4, Some(2)), (0, Some(2)), (4, None)];
    let change = |(before, after)| figure_change("total", &Unit::Bytes, before, after);
    add("figure_change", &changes.map(change));
    add(
        "figures",
        &[figures([text("peak 1 MiB"), text("Ir 5")].into_iter()).expect("figures")],
    );
    add("with_name", &[with_name("before", "It is so.")]);
    add("churn", &churned.each_ref().map(churn));
    add(
        "first_churn",
        &[
            first_churn(None, &churned[1]),
            first_churn(Some("before"), &churned[0]),
        ],
    );
    let saw = |largest| {
        sawtooth(&Sawtooth {
            teeth: 3,
            fall: 1 << 20,
            largest,
        })
    };
    add("sawtooth", &[saw(None), saw(Some(frame()))]);
    let leak = |blocks| NeverFreed {
        blocks,
        bytes: 21_811,
        site: frame(),
        unfreed_bytes: 20_480,
    };
    add(
        "never_freed",
        &[never_freed(&leak(1)), never_freed(&leak(30))],
    );
    let touches = [Access::Written, Access::Read];
    add(
        "explanation",
        &touches.map(|touch| explanation(&sample_explanation(touch))),
    );
    let agree = |outlook| {
        agreement(
            &Agreement {
                predicted: 0.62,
                outlook,
            },
            "before",
        )
    };
    add("agreement", &outlooks.map(agree));
    let changed = changed_figure(("before", "peak"), &Unit::Bytes, TIME, [4e6, 2e6]);
    add("changed_figure", &[changed]);
    add("no_change", &[1, 2].map(|runs| text(no_change(runs))));
    let (tool, name) = (Tool::Dhat, text("before"));
    let no_symbols = |object| RunWarning::NoSymbols {
        name: text("before"),
        part: 0.37,
        event: text("Ir"),
        object,
    };
    let warnings = [
        RunWarning::Stopped {
            tool,
            name: name.clone(),
        },
        RunWarning::NoFigures {
            tool,
            name,
            ending: Ending::Exited(3),
            reason: text("no file"),
        },
        RunWarning::OutputChanges,
        RunWarning::OutputsDiffer,
        RunWarning::Signal {
            command: 1,
            ending: Ending::Signaled(Some("SIGSEGV")),
        },
        RunWarning::Children { command: 1 },
        RunWarning::ExitStatus {
            before: Ending::Exited(0),
            after: Ending::Exited(3),
        },
        no_symbols(None),
        no_symbols(Some(text("/lib/x86_64-linux-gnu/libc.so.6"))),
    ];
    add(
        "label",
        &warnings
            .each_ref()
            .map(|warning| format!("{}: {warning}", warning.label())),
    );
    let read_error = || ProfileError::Truncated(text("line 3"));
    let errors = [
        FilesError::None,
        FilesError::Uneven,
        FilesError::Unreadable("massif.out".into(), read_error()),
        FilesError::Parts(read_error()),
    ];
    add("FilesError", &errors.each_ref().map(FilesError::to_string));
    add(
        "unreadable",
        &[unreadable(Path::new("massif.out"), &"no such file")],
    );
    add("setup_failed", &[setup_failed("make", "no such program")]);
    add(
        "setup_ended",
        &[setup_ended(
            "make",
            "before",
            &"exit status: 2",
            "make: no target",
        )],
    );
    add("valgrind_failed", &[valgrind_failed(&"no such program")]);
    add("keep_failed", &[keep_failed(&"not a folder")]);
    let instructions = Unit::Count("Ir".into());
    let results = [
        Ok(Found::Value(1051)),
        Ok(Found::Change {
            before: 1000,
            after: 1051,
        }),
        Ok(Found::Change {
            before: 0,
            after: 0,
        }),
        Err(Inconclusive::NoFile),
        Err(Inconclusive::NothingBefore),
        Err(Inconclusive::NoFileBefore),
        Err(Inconclusive::Partial),
        Err(Inconclusive::PartialBefore),
        Err(Inconclusive::StatusesDiffer),
        Ok(Found::ValueRange(range(1_000, 1_020))),
        Ok(Found::ChangeRange {
            before: range(1_000, 1_000),
            after: range(1_010, 1_020),
        }),
    ];
    add(
        "gate",
        &results.map(|result| gate("Ir", &instructions, result.as_ref())),
    );
    add(
        "count_range",
        &[count_range(range(7, 7)), count_range(range(1_000, 1_020))],
    );
    let (before, after) = (range(1_000, 1_001), range(1_021, 1_022));
    let same = range(1_000, 1_000);
    let head = |before, after, layouts| {
        lab_profile::wording::instructions("head", "base", before, after, layouts)
    };
    add(
        "instructions",
        &[
            head(before, after, Layouts::Builds(5)),
            head(same, same, Layouts::Environments(5)),
        ],
    );
    let log = ["valgrind: ./prog: command not found".to_owned()];
    add(
        "not_counted",
        &[
            not_counted(&Ending::Stopped(LONG), &[]),
            not_counted(&Ending::Exited(1), &[]),
            not_counted(&Ending::Exited(1), &log),
        ],
    );
    let (zero, three) = (Ending::Exited(0), Ending::Exited(3));
    let aborted = Ending::Signaled(Some("SIGABRT"));
    add(
        "counted_in_part",
        &[
            counted_in_part(&aborted, &[]),
            counted_in_part(&aborted, &log),
        ],
    );
    let gaps = [Gap::NoCounts, Gap::Ended(text("SIGILL")), Gap::Forked];
    add("gap", &gaps.each_ref().map(lab_profile::wording::gap));
    add("failed_under_valgrind", &[failed_under_valgrind(&three)]);
    add("CHILDREN_NOT_COUNTED", &[text(CHILDREN_NOT_COUNTED)]);
    add("NO_INSTRUCTIONS", &[text(NO_INSTRUCTIONS)]);
    add("statuses_vary", &[statuses_vary(&zero, &three)]);
    add("statuses_differ", &[statuses_differ(&three, &zero)]);
    add("no_ranges", &[no_ranges("head", CHILDREN_NOT_COUNTED)]);
    add(
        "counting_failed",
        &[counting_failed("head", "exit status 1")],
    );
    insta::assert_snapshot!(lines.0);
}

/// Every new sentence must have a line in the snapshot.
#[test]
fn the_snapshot_has_every_name() {
    let (wording, test) = (source("wording.rs"), include_str!("wording.rs"));
    for line in wording.lines() {
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

/// Only `wording.rs` may contain a sentence: three words in a row, or a word followed by a period.
#[test]
fn no_sentence_stands_elsewhere() {
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut read = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            files.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path.file_name().is_some_and(|name| name != "wording.rs") {
            read += 1;
            for text in literals(&fs::read_to_string(&path).expect("a text")) {
                assert!(!is_sentence(&text), "{}: {text}", path.display());
            }
        }
    }
    assert!(read > 10, "{read} files");
    assert!(is_sentence("there is nothing") && is_sentence("It ends."));
    assert!(!is_sentence("D1 cache:") && !is_sentence("{}-{}"));
}

fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let words = text.split_whitespace().filter(is_word).count();
    words > 2 || words > 0 && text.ends_with('.')
}

/// Returns the string literals of a source text, ignoring its comments.
fn literals(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'");
    let parts = text.split('"');
    parts.skip(1).step_by(2).map(str::to_owned).collect()
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
    fs::read_to_string(path).expect("a text")
}
