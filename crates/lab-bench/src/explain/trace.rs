// SPDX-License-Identifier: Apache-2.0
//! Parses the output of `strace -f -y` into the system calls of each batch of a subject.

use lab_model::Message;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead};
use thiserror::Error;

/// Calls that send on a socket. Each returns the number of bytes, except for `sendmmsg`.
const SENDS: [&str; 7] = [
    "write", "writev", "send", "sendto", "sendmsg", "sendmmsg", "sendfile",
];

/// Calls that receive from a socket. Each returns the number of bytes, except for `recvmmsg`.
const RECEIVES: [&str; 7] = [
    "read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg", "splice",
];

/// The maximum length of a line in bytes. Lines are much shorter, because strace truncates strings.
const MAX_LINE: u64 = 1 << 20;

/// The maximum number of messages stored per batch.
const KEPT_MESSAGES: usize = 64;

/// An error that makes a trace unusable.
#[derive(Debug, Error)]
pub enum TraceError {
    /// Reading failed.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// A line does not have strace's format.
    #[error("line {0} of the trace is not strace output: {1}")]
    Malformed(u64, &'static str),
    /// The trace ends in the middle of a batch.
    #[error("the trace ends in the middle of a batch")]
    Truncated,
}

/// The system calls of a subject in one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemCalls {
    /// The number of calls by kind of system call.
    pub kinds: BTreeMap<String, i64>,
    /// The number of sends that were followed by a receive on the same socket.
    pub round_trips: i64,
    /// Bytes sent on sockets.
    pub sent_bytes: i64,
    /// Bytes received on sockets.
    pub received_bytes: i64,
    /// The number of futex(2) calls that wait.
    pub futex_waits: i64,
    /// The first messages on sockets, in order.
    pub messages: Vec<Message>,
    /// The sockets on which the last message was sent rather than received.
    awaiting_reply: HashSet<u64>,
}

/// Returns the calls of every batch in a trace, in order.
///
/// A batch starts after the subject receives the command `run`, and ends before the subject sends the reply `ran`.
pub fn read_trace(trace: impl BufRead) -> Result<Vec<SystemCalls>, TraceError> {
    let mut reader = TraceReader::default();
    reader.read(trace)?;
    match reader.open {
        None => Ok(reader.batches),
        Some(_) => Err(TraceError::Truncated),
    }
}

/// Returns the total of all calls in a trace, whether or not they belong to a batch.
pub(super) fn read_all_calls(trace: impl BufRead) -> Result<SystemCalls, TraceError> {
    let mut reader = TraceReader {
        open: Some(SystemCalls::default()),
        ignores_batches: true,
        ..TraceReader::default()
    };
    reader.read(trace)?;
    reader.open.ok_or(TraceError::Truncated)
}

/// Returns the calls that began in each time window. The trace must have been written with `-ttt`.
///
/// The windows are in seconds since 1970, in ascending order.
pub(super) fn read_windows(
    trace: impl BufRead,
    windows: &[(f64, f64)],
) -> Result<Vec<SystemCalls>, TraceError> {
    let mut reader = TraceReader {
        ignores_batches: true,
        windows: Some(windows),
        ..TraceReader::default()
    };
    reader.read(trace)?;
    reader.batches.extend(reader.open.take());
    reader.batches.resize(windows.len(), SystemCalls::default());
    Ok(reader.batches)
}

/// The state of a parser that reads a trace.
#[derive(Default)]
struct TraceReader<'w> {
    batches: Vec<SystemCalls>,
    /// The current batch.
    open: Option<SystemCalls>,
    /// For each thread, the start of a call whose line was interrupted by another thread's line.
    unfinished: BTreeMap<u32, String>,
    /// True if the protocol's commands and replies are treated as ordinary calls.
    ignores_batches: bool,
    /// Time windows, which count as batches. If this is `Some`, every line of the trace starts with
    /// its time.
    windows: Option<&'w [(f64, f64)]>,
}

impl TraceReader<'_> {
    fn read(&mut self, mut trace: impl BufRead) -> Result<(), TraceError> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let length = io::Read::take(&mut trace, MAX_LINE).read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            let Some(content) = line.strip_suffix(b"\n") else {
                let too_long = length as u64 == MAX_LINE;
                return Err(if too_long {
                    TraceError::Malformed(number, "the line is too long")
                } else {
                    TraceError::Truncated
                });
            };
            let text = String::from_utf8_lossy(content);
            let outcome = self.line(&text);
            outcome.map_err(|reason| TraceError::Malformed(number, reason))?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> Result<(), &'static str> {
        let (thread, rest) = text.split_once(' ').ok_or("the call is missing")?;
        let thread: u32 = thread.parse().map_err(|_| "the thread ID is missing")?;
        let rest = match self.windows {
            Some(windows) => self.move_windows(rest.trim_start(), windows)?,
            None => rest,
        };
        let rest = rest.trim_start();
        if rest.starts_with("+++ ") || rest.starts_with("--- ") {
            return Ok(());
        }
        if let Some(resumed) = rest.strip_prefix("<... ") {
            // The call was in progress when strace attached, or another thread's execve interrupted it.
            let Some(start) = self.unfinished.remove(&thread) else {
                return Ok(());
            };
            let (_, end) = resumed
                .split_once(" resumed>")
                .ok_or("the resumed call is missing")?;
            return self.return_from(&format!("{start}{end}"));
        }
        if let Some(start) = rest.strip_suffix("<unfinished ...>") {
            self.enter(start)?;
            self.unfinished.insert(thread, start.to_owned());
            return Ok(());
        }
        self.enter(rest)?;
        self.return_from(rest)
    }

    /// Opens and closes windows according to the time at the beginning of a line. Returns the rest
    /// of the line.
    fn move_windows<'l>(
        &mut self,
        line: &'l str,
        windows: &[(f64, f64)],
    ) -> Result<&'l str, &'static str> {
        let (time, rest) = line.split_once(' ').ok_or("the call is missing")?;
        let time: f64 = time.parse().map_err(|_| "the time is missing")?;
        // A window without calls is empty.
        while let Some((from, to)) = windows.get(self.batches.len()).copied() {
            if time < from {
                break;
            }
            let open = self.open.get_or_insert_default();
            if time <= to {
                break;
            }
            let batch = std::mem::take(open);
            self.open = None;
            self.batches.push(batch);
        }
        Ok(rest)
    }

    /// Counts a call at its start.
    fn enter(&mut self, call: &str) -> Result<(), &'static str> {
        let (name, arguments) = split(call)?;
        if !self.ignores_batches
            && SENDS.contains(&name)
            && string(arguments).starts_with("@lab ran ")
        {
            self.batches.extend(self.open.take());
        }
        if let Some(batch) = &mut self.open {
            *batch.kinds.entry(name.to_owned()).or_default() += 1;
            batch.futex_waits += i64::from(name == "futex" && arguments.contains(" FUTEX_WAIT"));
        }
        Ok(())
    }

    /// Processes the result of a returning call.
    fn return_from(&mut self, call: &str) -> Result<(), &'static str> {
        let (name, arguments) = split(call)?;
        let (_, result) = call.rsplit_once(" = ").ok_or("the result is missing")?;
        let digits = result.split(|c: char| !c.is_ascii_digit()).next();
        // -1, `?`, addresses, and values larger than a call can transfer are not byte counts.
        let bytes = digits.and_then(|d| d.parse::<u32>().ok()).unwrap_or(0);
        let is_command = RECEIVES.contains(&name) && bytes > 0 && arguments.starts_with('0');
        if !self.ignores_batches && is_command && string(arguments).starts_with("run operations=") {
            // The previous batch ended with an error instead of the reply that ends a batch.
            self.open = Some(SystemCalls::default());
            return Ok(());
        }
        if let (Some(batch), Some(socket)) = (&mut self.open, socket(arguments)) {
            batch.transfer(name, socket, bytes, arguments);
        }
        Ok(())
    }
}

impl SystemCalls {
    /// Subtracts the calls of a smaller batch.
    pub fn minus(&self, smaller: &SystemCalls) -> SystemCalls {
        let kinds = self.kinds.iter().map(|(kind, count)| {
            let before = smaller.kinds.get(kind).copied().unwrap_or(0);
            (kind.clone(), count - before)
        });
        SystemCalls {
            kinds: kinds.collect(),
            round_trips: self.round_trips - smaller.round_trips,
            sent_bytes: self.sent_bytes - smaller.sent_bytes,
            received_bytes: self.received_bytes - smaller.received_bytes,
            futex_waits: self.futex_waits - smaller.futex_waits,
            ..SystemCalls::default()
        }
    }

    fn transfer(&mut self, name: &str, socket: u64, bytes: u32, arguments: &str) {
        let sent = SENDS.contains(&name);
        // Peeked bytes are received again later.
        let received = RECEIVES.contains(&name) && !arguments.contains("MSG_PEEK");
        if bytes == 0 || !(sent || received) {
            return;
        }
        if sent {
            self.awaiting_reply.insert(socket);
            self.sent_bytes += i64::from(bytes);
        } else {
            self.received_bytes += i64::from(bytes);
            self.round_trips += i64::from(self.awaiting_reply.remove(&socket));
        }
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(Message {
                sent,
                bytes: bytes.into(),
                begins: string(arguments).to_owned(),
            });
        }
    }
}

/// Splits a call into its name and the text after the opening parenthesis.
fn split(call: &str) -> Result<(&str, &str), &'static str> {
    let (name, arguments) = call
        .split_once('(')
        .ok_or("the opening parenthesis is missing")?;
    let is_name_byte = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !name.is_empty() && name.bytes().all(is_name_byte) {
        Ok((name, arguments))
    } else {
        Err("the call's name is missing")
    }
}

/// Returns the inode of the socket in a call's first argument, such as `5<socket:[123]>`.
fn socket(arguments: &str) -> Option<u64> {
    let (descriptor, rest) = arguments.split_once("<socket:[")?;
    let is_first = descriptor.bytes().all(|b| b.is_ascii_digit());
    let inode = rest.split_once("]>")?.0;
    is_first.then(|| inode.parse().ok()).flatten()
}

/// Returns the first string argument as escaped by strace, without its quotes.
fn string(arguments: &str) -> &str {
    let Some((_, text)) = arguments.split_once('"') else {
        return "";
    };
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEGIN: &str = "7 read(0<pipe:[1]>, \"run operations=2\\n\", 4096) = 17\n";
    const END: &str = "7 write(3<pipe:[2]>, \"@lab ran start=1\", 16) = 16\n";

    fn one(body: &str) -> SystemCalls {
        let text = format!("{BEGIN}{body}{END}");
        let mut batches = read_trace(text.as_bytes()).expect("a trace");
        assert_eq!(batches.len(), 1);
        batches.remove(0)
    }

    #[test]
    fn only_what_lies_within_a_batch_is_counted() {
        let text = format!("7 close(5) = 0\n{BEGIN}7 close(6) = 0\n{END}7 close(7) = 0\n");
        let batches = read_trace(text.as_bytes()).expect("a trace");
        let kinds: Vec<_> = batches[0].kinds.iter().collect();
        assert_eq!(kinds, [(&"close".to_owned(), &1)]);
    }

    #[test]
    fn a_round_trip_is_a_send_and_a_receipt_on_the_same_socket() {
        let calls = one(
            "7 sendto(5<socket:[9]>, \"ab\\\"(= 9\"..., 8, 0, NULL, 0) = 8\n\
             7 sendto(5<socket:[9]>, \"c\", 1, 0, NULL, 0) = 1\n\
             7 recvfrom(5<socket:[9]>, 0x1, 99, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)\n\
             7 write(6<socket:[8]>, \"x\", 1)    = 1\n\
             7 read(5<socket:[9]>, \"r\", 99)  = 20\n\
             7 read(5<socket:[9]>, \"s\", 99) = 4\n\
             7 read(6</tmp/socket:[9]>, \"s\", 99) = 4\n",
        );
        assert_eq!(calls.round_trips, 1);
        assert_eq!((calls.sent_bytes, calls.received_bytes), (10, 24));
        assert_eq!(calls.messages.len(), 5);
        assert_eq!(calls.messages[0].begins, "ab\\\"(= 9");
    }

    #[test]
    fn impossible_transfer_sizes_are_ignored() {
        for result in ["9223372036854775807", "18446744073709551615"] {
            let send = format!("7 write(5<socket:[9]>, \"a\", 1) = {result}\n");
            let receipt = format!("7 read(5<socket:[9]>, \"a\", 1) = {result}\n");
            let calls = one(&(send + &receipt).repeat(2));
            let transferred = (calls.sent_bytes, calls.received_bytes, calls.round_trips);
            assert_eq!(transferred, (0, 0, 0), "{result}");
        }
    }

    #[test]
    fn interrupted_calls_of_multiple_threads_are_joined() {
        let calls = one(
            "7 futex(0x1, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n\
             8 write(5<socket:[9]>, \"abc\", 3 <unfinished ...>\n\
             7 <... futex resumed>) = 0\n\
             9 <... poll resumed>) = 0\n\
             8 <... write resumed>) = 3\n\
             8 --- SIGURG {si_signo=SIGURG} ---\n\
             8 read(5<socket:[9]>,  <unfinished ...>\n\
             7 futex(0x1, FUTEX_WAKE_PRIVATE, 1) = 1\n\
             8 <... read resumed>\"xy\", 99) = 2\n\
             8 +++ exited with 0 +++\n",
        );
        assert_eq!((calls.round_trips, calls.futex_waits), (1, 1));
        assert_eq!((calls.sent_bytes, calls.received_bytes), (3, 2));
        assert_eq!(calls.kinds["futex"], 2);
        assert_eq!(calls.kinds["read"], 1);
    }

    #[test]
    fn a_reply_that_is_interrupted_ends_its_batch() {
        let text = format!(
            "{BEGIN}7 write(1<pipe:[2]>, \"@lab ran start=1\", 16 <unfinished ...>\n\
             8 close(4) = 0\n7 <... write resumed>) = 16\n"
        );
        let batches = read_trace(text.as_bytes()).expect("a trace");
        assert!(batches[0].kinds.is_empty());
    }

    #[test]
    fn calls_are_counted_in_the_window_in_which_they_began() {
        let text = "7 10.5 close(4) = 0\n7 11.0 close(4) = 0\n\
                    8 11.5 read(5<socket:[9]>,  <unfinished ...>\n7 12.5 close(4) = 0\n\
                    8 14.1 <... read resumed>\"xy\", 99) = 2\n8 14.5 close(4) = 0\n";
        let windows = [(11.0, 12.0), (13.0, 13.5), (14.0, 15.0), (16.0, 17.0)];
        let calls = read_windows(text.as_bytes(), &windows).expect("a trace");
        let counts: Vec<i64> = calls.iter().map(|c| c.kinds.values().sum()).collect();
        assert_eq!(counts, [2, 0, 1, 0]);
        assert_eq!(calls[2].received_bytes, 2);
        let timeless = read_windows("7 close(4) = 0\n".as_bytes(), &windows);
        assert!(matches!(timeless, Err(TraceError::Malformed(1, _))));
    }

    #[test]
    fn a_truncated_trace_is_rejected() {
        let trace = format!("{BEGIN}7 close(4) = 0\n{END}");
        for length in BEGIN.len()..trace.len() - END.len() + 1 {
            let read = read_trace(&trace.as_bytes()[..length]);
            assert!(matches!(read, Err(TraceError::Truncated)), "{length}");
        }
        let cut_off = &trace.as_bytes()[..trace.len() - 3];
        assert!(matches!(read_trace(cut_off), Err(TraceError::Truncated)));
    }

    #[test]
    fn malformed_trace_lines_are_rejected() {
        for bad in [
            "nonsense",
            "x close(1) = 0",
            "7",
            "7 ",
            "7 close",
            "7 Close(1) = 0",
            "7 close(1)",
            "-7 close(1) = 0",
            "99999999999 close(1) = 0",
        ] {
            let text = format!("{BEGIN}{bad}\n");
            match read_trace(text.as_bytes()) {
                Err(TraceError::Malformed(2, _)) => {}
                other => panic!("{bad}: {other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_crash(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_trace(&bytes[..]);
            let mut line = b"7 read(0<socket:[".to_vec();
            line.extend(&bytes);
            line.push(b'\n');
            let _ = read_trace(&line[..]);
        }
    }
}
