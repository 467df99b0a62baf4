// SPDX-License-Identifier: Apache-2.0
//! Tests the replies of a subject that uses the kit, line by line.

use lab_kit::{Closed, Failure, Laps, Opening, Subject, Work, Workers};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io::{self, Cursor, Write};
use std::rc::Rc;

/// Sums its inputs, reports its arguments, and fails on request.
fn echo(mut opening: Opening) -> Result<Closed, Failure> {
    let text = opening.text("text")?.to_owned();
    let fail = opening.text("fail").unwrap_or("never").to_owned();
    opening.setting("text", &text);
    if fail == "open" {
        return Err(Full.into());
    }
    if text == "unsupported" {
        return Err(Failure::unsupported("this text is not supported"));
    }
    let inputs = opening.inputs().clone();
    let closed = opening.serve(|operations| {
        if fail == "perform" {
            return Err(Full.into());
        }
        let check = inputs.first(operations).fold(0, u64::wrapping_add);
        Ok(Work {
            check,
            units: 2 * operations,
            ..Work::default()
        })
    });
    if fail == "close" {
        return Err(Failure::failed("the case failed to close"));
    }
    Ok(closed)
}

/// Simulates two concurrent threads, one after the other.
fn at_once(opening: Opening) -> Result<Closed, Failure> {
    Ok(opening.serve(|operations| {
        let thread = |operations| {
            let mut work = Work::default();
            let mut laps = Laps::default();
            laps.start();
            for _ in 0..operations {
                work.add(1, 1);
                laps.lap();
            }
            work.laps = Some(laps);
            work
        };
        Ok(thread(operations - 1).join(thread(1)))
    }))
}

/// Sums the operations' numbers with multiple threads, one of which may fail.
fn count(opening: Opening) -> Result<Closed, Failure> {
    let has_laps = opening.text("laps")? == "yes";
    let fail = opening.text("fail").unwrap_or("never").to_owned();
    let workers = Workers::start(opening.integer("threads", 1..=64)?, move |share, laps| {
        let mut work = Work::default();
        for k in share.operations() {
            match fail.as_str() {
                "error" if k == 4 => return Err(Full.into()),
                "panic" if k == 4 => panic!("operation 4"),
                _ => work.add(1, k as i64),
            }
            if has_laps {
                laps.lap();
            }
        }
        assert_eq!(work.units, share.len());
        Ok(work)
    })?;
    Ok(opening.serve(|operations| workers.perform(operations)))
}

/// Reports metrics.
fn measure(opening: Opening) -> Result<Closed, Failure> {
    Ok(opening.serve(|_| {
        let mut work = Work::default();
        work.metrics.insert("small", -1.2e-5);
        work.metrics.insert("lost", 100.0 / 3.0);
        work.metrics.insert("none", 0.0);
        work.metrics.insert("large", 9.876_543_210_987_654e16);
        Ok(work)
    }))
}

/// Opens a server that serves no requests.
fn server(mut opening: Opening) -> Result<Closed, Failure> {
    opening.setting("url", "http://127.0.0.1:0");
    Ok(opening.wait())
}

/// An error like a driver's error: its cause contains the important message.
#[derive(Debug)]
struct Full;

#[derive(Debug)]
struct DiskFull;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("driver error")
    }
}

impl Error for Full {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&DiskFull)
    }
}

impl fmt::Display for DiskFull {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("disk full")
    }
}

impl Error for DiskFull {}

#[derive(Clone, Default)]
struct Replies(Rc<RefCell<Vec<u8>>>);

impl Write for Replies {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns all replies to an input.
fn answers(input: &[u8]) -> Vec<String> {
    let replies = Replies::default();
    Subject::new("echo", "no library 1.0")
        .case("echo", echo)
        .case("at_once", at_once)
        .case("count", count)
        .case("measure", measure)
        .case("server", server)
        .sqlstate(|error| error.is::<DiskFull>().then(|| "53100".to_owned()))
        .serve_on(Cursor::new(input.to_owned()), replies.clone())
        .unwrap();
    let bytes = replies.0.take();
    String::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Returns the replies to commands, without the hello.
fn replies(commands: &[&str]) -> Vec<String> {
    answers(commands.join("\n").as_bytes()).split_off(1)
}

const OPEN: &str = "open case=echo seed=7 text=x";

fn refused(message: &str) -> String {
    format!(
        "@lab error code=usage message={}",
        message.replace(' ', "%20")
    )
}

#[test]
fn says_hello() {
    let hello = answers(b"").remove(0);
    let words: Vec<&str> = hello.split(' ').collect();
    let thread = format!("thread={}", nix::unistd::gettid());
    assert_eq!(
        words[..5],
        ["@lab", "hello", "protocol=1", "subject=echo", &thread]
    );
    assert!(words[5].starts_with("runtime=rustc%201."), "{hello}");
    assert_eq!(words[6], "library=no%20library%201.0");
}

#[test]
fn performs_the_requested_operations() {
    let answers = replies(&[
        "open case=noop seed=0",
        "verify",
        "verify operations=9007199254740992",
        "close",
    ]);
    assert_eq!(
        answers,
        [
            "@lab opened",
            "@lab verified operations=1 units=1 check=1",
            "@lab verified operations=9007199254740992 units=9007199254740992 check=9007199254740992",
            "@lab closed",
        ]
    );
}

/// Expects the same sums as the tests of the kits in other languages.
#[test]
fn restarts_the_sequence_in_each_batch() {
    for (operations, check) in [
        (1, 7191089600892374487_u64),
        (2, 7500778973487330291),
        (3, 5670136646593388021),
        (4096, 17024844806574203696),
        (4097, 5769190333757026567),
    ] {
        let run = format!("run operations={operations}");
        for reply in &replies(&[OPEN, &run, &run])[1..] {
            let (begin, end) = reply.split_once(" operations=").unwrap();
            assert_eq!(
                end,
                format!("{operations} units={} check={check}", 2 * operations)
            );
            let times: Vec<u64> = begin
                .split('=')
                .skip(1)
                .map(|t| t.trim_end_matches(" end").parse().unwrap())
                .collect();
            assert!(times[0] <= times[1], "{reply}");
        }
    }
    let largest = ["open case=echo seed=18446744073709551615 text=", "verify"];
    assert!(replies(&largest)[1].ends_with("check=16490336266968443936"));
}

#[test]
fn reports_the_latencies_of_concurrent_operations() {
    let answers = replies(&[
        "open case=at_once seed=7",
        "run operations=1000",
        "verify operations=2",
    ]);
    let (times, latencies) = answers[1].split_once(" latencies=").unwrap();
    assert!(
        times.ends_with("operations=1000 units=1000 check=1000"),
        "{times}"
    );
    let counts = latencies
        .split(',')
        .map(|pair| pair.split_once(':').unwrap().1);
    assert_eq!(
        counts
            .map(|count| count.parse::<u64>().unwrap())
            .sum::<u64>(),
        1000
    );
    assert_eq!(answers[2], "@lab verified operations=2 units=2 check=2");
}

#[test]
fn workers_share_the_operations() {
    for threads in [1, 3, 64] {
        let open = format!("open case=count seed=7 laps=yes threads={threads}");
        let answers = replies(&[&open, "run operations=1000", "run operations=3", "close"]);
        for (answer, operations, check) in [(&answers[1], 1000, 499_500), (&answers[2], 3, 3)] {
            let (times, latencies) = answer.split_once(" latencies=").unwrap();
            let expected = format!("operations={operations} units={operations} check={check}");
            assert!(times.ends_with(&expected), "{times}");
            let counts = latencies
                .split(',')
                .map(|pair| pair.split_once(':').unwrap().1);
            let sum: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
            assert_eq!(sum, operations);
        }
        assert_eq!(answers[3], "@lab closed");
    }
}

#[test]
fn workers_without_laps_report_no_latencies() {
    let answers = replies(&[
        "open case=count seed=7 laps=no threads=16",
        "run operations=3",
    ]);
    assert!(answers[1].starts_with("@lab ran start="), "{}", answers[1]);
    assert!(
        answers[1].ends_with(" operations=3 units=3 check=3"),
        "{}",
        answers[1]
    );
}

#[test]
fn workers_survive_a_failure_of_one() {
    for (fail, message) in [
        (
            "error",
            "driver%20error:%20disk%20full%20%28SQLSTATE%2053100%29",
        ),
        ("panic", "a%20worker%20panicked"),
    ] {
        let open = format!("open case=count seed=7 laps=no threads=3 fail={fail}");
        let failed = format!("@lab error code=failed message={message}");
        let done = "@lab verified operations=4 units=4 check=6";
        let answers = replies(&[&open, "run operations=10", "verify operations=4", "close"]);
        assert_eq!(
            answers,
            ["@lab opened", failed.as_str(), done, "@lab closed"]
        );
    }
}

#[test]
fn metrics_are_decimal_numbers_of_a_run() {
    let answers = replies(&["open case=measure seed=7", "run operations=3", "verify"]);
    let metrics = " large=98765432109876540 lost=33.333333333333336 none=0 small=-0.000012";
    assert!(answers[1].ends_with(metrics), "{}", answers[1]);
    assert_eq!(answers[2], "@lab verified operations=1 units=0 check=0");
}

#[test]
fn returns_every_character_of_a_setting() {
    let answers =
        replies(&["open case=echo seed=7 text=%01%0a%20%22%25%3d%3F%7f%c3%A9%41z9-._~/:,+"]);
    assert_eq!(
        answers,
        ["@lab opened text=%01%0A%20%22%25%3D%3F%7F%C3%A9Az9-._~/:,+"]
    );
}

#[test]
fn rejects_commands_out_of_order() {
    let no_case = refused("no case is open");
    let answers = replies(&[
        "verify",
        "run operations=1",
        "close",
        OPEN,
        OPEN,
        "close",
        "close",
    ]);
    let open_already = refused("a case is already open");
    let expected = [
        &no_case,
        &no_case,
        &no_case,
        "@lab opened text=x",
        &open_already,
        "@lab closed",
        &no_case,
    ];
    assert_eq!(answers, expected);
}

#[test]
fn rejects_invalid_arguments_and_continues() {
    for (command, message) in [
        ("open seed=7", "the argument case is missing"),
        ("open case=echo text=x", "the argument seed is missing"),
        ("open case=echo seed=7", "the argument text is missing"),
        (
            "open case=noop seed=-1",
            "seed is not a whole number from 0 to 18446744073709551615",
        ),
        ("", "there is no command "),
        ("Open case=noop seed=7", "there is no command Open"),
        (
            "open case",
            "argument 1 is not key%3Dvalue, percent-encoded UTF-8",
        ),
    ] {
        assert_eq!(
            replies(&[command, OPEN]),
            [refused(message), "@lab opened text=x".to_owned()],
            "{command}"
        );
    }
    let most = refused("operations is not a whole number from 1 to 9007199254740992");
    for operations in ["0", "9007199254740993", "-1", "1e3", ""] {
        for verb in ["run", "verify"] {
            let command = format!("{verb} operations={operations}");
            assert_eq!(replies(&[OPEN, &command])[1], most, "{command}");
        }
    }
    assert_eq!(
        replies(&[OPEN, "run"])[1],
        refused("the argument operations is missing")
    );
}

#[test]
fn reports_unsupported_cases() {
    let answers = replies(&[
        "open case=other seed=7",
        "open case=echo seed=7 text=unsupported",
    ]);
    let unsupported = |message: &str| format!("@lab error code=unsupported message={message}");
    let expected = [
        "there%20is%20no%20case%20other",
        "this%20text%20is%20not%20supported",
    ];
    assert_eq!(answers, expected.map(unsupported));
}

#[test]
fn a_server_does_no_operations() {
    let answers = replies(&[
        "open case=server seed=7",
        "verify",
        "run operations=1",
        "close",
        "close",
    ]);
    let none = "@lab error code=unsupported message=the%20case%20is%20a%20server%20and%20has%20no%20operations";
    let expected = [
        "@lab opened url=http://127.0.0.1:0",
        none,
        none,
        "@lab closed",
        &refused("no case is open"),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn survives_a_failure() {
    let full =
        "@lab error code=failed message=driver%20error:%20disk%20full%20%28SQLSTATE%2053100%29";
    let no_case = &refused("no case is open");
    let (opened, closed) = ("@lab opened text=x", "@lab closed");
    let stuck = "@lab error code=failed message=the%20case%20failed%20to%20close";
    for (when, expected) in [
        ("open", [full, no_case, no_case, opened]),
        ("perform", [opened, full, closed, opened]),
        (
            "close",
            [
                opened,
                "@lab verified operations=1 units=2 check=7191089600892374487",
                stuck,
                opened,
            ],
        ),
    ] {
        let open = format!("{OPEN} fail={when}");
        assert_eq!(
            replies(&[&open, "verify", "close", OPEN]),
            expected,
            "{when}"
        );
    }
}

#[test]
fn ends_at_quit_and_with_the_input() {
    assert_eq!(replies(&["quit", "verify"]), [""; 0]);
    assert_eq!(replies(&[OPEN, "quit", "verify"]), ["@lab opened text=x"]);
    assert_eq!(replies(&[OPEN]), ["@lab opened text=x"]);
    assert_eq!(
        replies(&["open case=echo seed=7 text=x fail=close", "quit"]),
        ["@lab opened text=x"]
    );
}

#[test]
fn a_closed_output_is_an_error() {
    struct ClosedOutput;
    impl Write for ClosedOutput {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let served = Subject::new("echo", "none 1").serve_on(Cursor::new("verify\n"), ClosedOutput);
    assert_eq!(served.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

proptest! {
    #[test]
    fn any_lines_get_one_reply_each(lines in vec(vec(0..=255_u8, 0..60), 0..20)) {
        let mut input = Vec::new();
        for line in &lines {
            input.extend(line.iter().filter(|&&b| b != b'\n'));
            input.push(b'\n');
        }
        prop_assert_eq!(answers(&input).len(), 1 + lines.len());
    }

    #[test]
    fn mutated_commands_get_one_reply_each(
        edits in vec((0..5_usize, 0..70_usize, any::<u8>(), any::<bool>()), 1..30),
    ) {
        let commands = [OPEN, "verify", "verify operations=2", "run operations=3", "close"];
        let mut input = Vec::new();
        for &(command, at, byte, insert) in &edits {
            let mut line = commands[command].as_bytes().to_vec();
            if let (Some(old), false) = (line.get_mut(at), insert) {
                *old = byte;
            } else {
                line.insert(at.min(line.len()), byte);
            }
            // No line breaks, and not more work than is suitable for a test.
            let long = line.iter().filter(|b| b.is_ascii_digit()).count() > 1;
            line.retain(|&b| b != b'\n' && !(long && command > 1 && b.is_ascii_digit()));
            input.extend(line);
            input.push(b'\n');
        }
        prop_assert_eq!(answers(&input).len(), 1 + edits.len());
    }
}
