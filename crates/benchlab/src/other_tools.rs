// SPDX-License-Identifier: Apache-2.0
//! Options of other benchmark tools that users type by habit, and benchlab's equivalents.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option of other tools that users type by habit.
struct Habit {
    /// The benchlab subcommand that users combine with the option.
    verb: &'static str,
    /// The spellings of the option.
    options: &'static [&'static str],
    /// Advice: the equivalent option of benchlab, or the reason no option is needed.
    instead: &'static str,
}

const HABITS: &[Habit] = &[
    Habit {
        verb: "compare",
        options: &["-w", "--warmup"],
        instead: "leave it out: before measuring a command, benchlab runs it until its files are in memory",
    },
    Habit {
        verb: "compare",
        options: &["-r", "-m", "-M", "--min-runs", "--max-runs"],
        instead: "use --for 30s to measure for 30 seconds, or --blocks 20 to measure exactly 20 blocks of runs",
    },
    Habit {
        verb: "compare",
        options: &["-d", "-D", "--duration"],
        instead: "use --for 30s to measure for 30 seconds",
    },
    Habit {
        verb: "compare",
        options: &["-t", "--threads"],
        instead: "--cores one or --cores all sets where the commands run, and --time-limit 10s ends a run that takes longer",
    },
    Habit {
        verb: "compare",
        options: &["-N", "-S", "--shell"],
        instead: "leave it out: only a command with shell syntax is run by sh. For another shell, compare `bash -c '…'`",
    },
    Habit {
        verb: "compare",
        options: &[
            "-P",
            "--parameter-scan",
            "--parameter-list",
            "--parameter-step-size",
        ],
        instead: "--sweep NAME=1,2,4 replaces {NAME} with each of these values",
    },
    Habit {
        verb: "compare",
        options: &["--reference"],
        instead: "--baseline NAME",
    },
    Habit {
        verb: "compare",
        options: &["-C", "--conclude"],
        instead: "--prepare 'COMMAND' runs before every run, and --cleanup 'COMMAND' once after the last one",
    },
    Habit {
        verb: "compare",
        options: &["--command-name"],
        instead: "--name NAME",
    },
    Habit {
        verb: "compare",
        options: &["--export-json", "--export-markdown", "--export-csv"],
        instead: "--export FILE; the extension .json, .md or .csv selects the format",
    },
    Habit {
        verb: "compare",
        options: &[
            "-u",
            "--time-unit",
            "--style",
            "--sort",
            "--show-output",
            "--output",
        ],
        instead: "leave it out: benchlab chooses units and layout, and --same-output checks what the commands print",
    },
    Habit {
        verb: "load",
        options: &["-d", "-z", "--duration"],
        instead: "--for 10s sets how long to send requests; --body TEXT sets what to send",
    },
    Habit {
        verb: "load",
        options: &["-t"],
        instead: "--threads 2 sets the threads that send requests, and --timeout 5s how long to wait for a response",
    },
    Habit {
        verb: "load",
        options: &["-R", "-q", "-r", "--qps"],
        instead: "use --rate 1000 to send 1,000 requests per second",
    },
    Habit {
        verb: "load",
        options: &["-u", "--vus", "--workers", "--concurrency"],
        instead: "--connections 50",
    },
    Habit {
        verb: "load",
        options: &["-k", "--keepalive", "--keep-alive"],
        instead: "leave it out: connections stay open unless --no-keep-alive is given",
    },
    Habit {
        verb: "load",
        options: &["--disable-keepalive"],
        instead: "--no-keep-alive",
    },
    Habit {
        verb: "load",
        options: &["--latency", "--print-latency"],
        instead: "leave it out: percentiles are always shown",
    },
    Habit {
        verb: "load",
        options: &["-s", "--script", "--targets", "-i"],
        instead: "--requests FILE sends the requests of a .http file",
    },
    Habit {
        verb: "load",
        options: &["-m"],
        instead: "--method POST",
    },
    Habit {
        verb: "load",
        options: &["-D", "-p", "--data", "--data-binary"],
        instead: "--body TEXT, or --body-file FILE",
    },
    Habit {
        verb: "load",
        options: &["-a", "-A", "-T", "-C"],
        instead: "--header 'NAME: VALUE', such as 'Content-Type: application/json'; a user and password belong in the URL",
    },
    Habit {
        verb: "load",
        options: &["-o", "-e", "-g", "--json"],
        instead: "--export FILE; the extension .json, .csv or .html selects the format",
    },
    Habit {
        verb: "load",
        options: &["--requests-count", "--num-requests"],
        instead: "use --for 10s to send requests for 10 seconds; a load has a duration, not a number of requests",
    },
    Habit {
        verb: "profile",
        options: &["--tool"],
        instead: "--only massif,callgrind",
    },
];

/// Returns advice if the command line was rejected because of an option of another tool.
pub fn instead(error: &clap::Error) -> Option<String> {
    let unknown = matches!(error.kind(), ErrorKind::UnknownArgument);
    let given = match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(given) if unknown => given,
        _ => return None,
    };
    let words = std::env::args_os().skip(1);
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let verb = words.find(|word| !word.starts_with('-'))?;
    let option = given.split(['=', ' ']).next()?;
    let mut habits = HABITS.iter();
    let habit = habits.find(|h| h.verb == verb && h.options.contains(&option))?;
    Some(format!(
        "benchlab {verb} has no option {option}; {}",
        habit.instead
    ))
}
