// SPDX-License-Identifier: Apache-2.0
//! The cases, each with its operation.

use crate::{IS_FORKING, left};
use lab_kit::{Closed, Failure, Laps, Opening, Work};
use nix::sys::signal::{Signal, kill as send_signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

const KILL_AFTER: Duration = Duration::from_millis(5);
const DEADLOCK: Duration = Duration::from_millis(50);

type Metrics = BTreeMap<&'static str, f64>;

/// An operation's contribution to the check and to the units.
type Outcome = Result<(u64, u64), Failure>;

/// Serves a case in a parent of the requested size. The measured time of a batch ends with its last
/// operation; leaked resources are counted afterwards.
fn serve(
    opening: Opening,
    mut operation: impl FnMut(&mut Metrics) -> Outcome,
) -> Result<Closed, Failure> {
    let size = match opening.text("parent")? {
        "10MB" => 10 << 20,
        "1GB" => 1 << 30,
        parent => return Err(Failure::unsupported(format!("unknown parent {parent}"))),
    };
    let resident = vec![1_u8; size];
    std::hint::black_box(&resident); // otherwise the compiler would remove it
    let before = left::descriptors()?;
    Ok(opening.serve(|operations| {
        let mut work = Work::default();
        let mut span = Laps::default();
        span.start();
        for _ in 0..operations {
            let (check, units) = operation(&mut work.metrics)?;
            work.check = work.check.wrapping_add(check);
            work.units += units;
        }
        span.finish();
        work.laps = Some(span);
        for sum in work.metrics.values_mut() {
            *sum /= operations as f64;
        }
        let descriptors = left::descriptors()? as f64 - before as f64;
        work.metrics.insert("descriptors", descriptors);
        work.metrics.insert("children", left::children()? as f64);
        Ok(work)
    }))
}

/// Returns a command with all streams on the null device.
#[allow(unsafe_code)]
fn program(path: &str) -> Command {
    let mut command = Command::new(path);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if IS_FORKING.load(Ordering::Relaxed) {
        // SAFETY: the closure does nothing.
        unsafe { command.pre_exec(|| Ok(())) };
    }
    command
}

/// Returns the exit code, or 256 + the signal.
fn number(status: ExitStatus) -> u64 {
    let signal = status.signal().map(|signal| 256 + signal);
    let number = signal
        .or(status.code())
        .expect("the program exited or was killed");
    number as u64
}

/// Computes the 64-bit FNV-1a hash (Fowler, Noll, Vo).
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Concatenates the inputs as eight bytes each, in little-endian order.
fn content(opening: &Opening) -> Result<Vec<u8>, Failure> {
    let size = opening.integer("bytes", 1..=1_usize << 24)?;
    let inputs: Vec<u64> = opening.inputs().first(4096).collect();
    let bytes = inputs.iter().cycle().flat_map(|value| value.to_le_bytes());
    Ok(bytes.take(size).collect())
}

fn expect(output: &[u8], expected: &[u8]) -> Result<(), Failure> {
    match output == expected {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "unexpected output of {} bytes",
            output.len()
        ))),
    }
}

pub fn start(opening: Opening) -> Result<Closed, Failure> {
    let empty = hash(b"");
    serve(opening, |_| {
        let status = program("/bin/true").status()?;
        Ok((empty.wrapping_add(number(status)), 1))
    })
}

pub fn fail(opening: Opening) -> Result<Closed, Failure> {
    serve(opening, |_| {
        match program("/bin/no-such-program").status() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((1, 1)),
            Err(error) => Err(error.into()),
            Ok(_) => Err(Failure::failed("a program that does not exist was started")),
        }
    })
}

pub fn read(opening: Opening) -> Result<Closed, Failure> {
    let content = content(&opening)?;
    let outcome = hash(&content);
    // The file has no name, so nothing is left however this program exits.
    let mut file = tempfile::tempfile()?;
    file.write_all(&content)?;
    let path = &format!("/proc/{}/fd/{}", process::id(), file.as_raw_fd());
    let mut first = vec![0; 1 << 16];
    serve(opening, |metrics| {
        let before = Instant::now();
        let mut child = program("/bin/cat")
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdout = child.stdout.take().expect("it is piped");
        let count = stdout.read(&mut first)?;
        *metrics.entry("first_byte").or_default() += before.elapsed().as_nanos() as f64;
        let mut output = first[..count].to_vec();
        stdout.read_to_end(&mut output)?;
        let status = child.wait()?;
        expect(&output, &content)?;
        Ok((outcome.wrapping_add(number(status)), output.len() as u64))
    })
}

/// Starts a line filter with piped input and output.
fn filter() -> io::Result<Child> {
    program("/bin/cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
}

pub fn converse(opening: Opening) -> Result<Closed, Failure> {
    let count = opening.integer("lines", 1..=10_000_usize)?;
    let inputs: Vec<u64> = opening.inputs().first(4096).collect();
    let lines = inputs
        .iter()
        .cycle()
        .take(count)
        .map(|value| format!("{value}\n"));
    let lines: Vec<String> = lines.collect();
    let outcome = hash(lines.concat().as_bytes());
    let mut answer = String::new();
    serve(opening, |_| {
        let mut child = filter()?;
        let mut stdin = child.stdin.take().expect("it is piped");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        for line in &lines {
            stdin.write_all(line.as_bytes())?;
            answer.clear();
            stdout.read_line(&mut answer)?;
            expect(answer.as_bytes(), line.as_bytes())?;
        }
        drop(stdin);
        let status = child.wait()?;
        Ok((outcome.wrapping_add(number(status)), count as u64))
    })
}

pub fn exchange(opening: Opening) -> Result<Closed, Failure> {
    let content = content(&opening)?;
    let outcome = hash(&content);
    serve(opening, |_| {
        let mut child = filter()?;
        let mut stdin = child.stdin.take().expect("it is piped");
        let done = thread::scope(|scope| {
            let writing = scope.spawn(|| {
                stdin.write_all(&content)?;
                drop(stdin);
                io::Result::Ok(())
            });
            let done = child.wait_with_output()?;
            writing.join().expect("the thread does not panic")?;
            io::Result::Ok(done)
        })?;
        expect(&done.stdout, &content)?;
        Ok((
            outcome.wrapping_add(number(done.status)),
            done.stdout.len() as u64,
        ))
    })
}

pub fn write_then_read(opening: Opening) -> Result<Closed, Failure> {
    let content = content(&opening)?;
    serve(opening, |metrics| {
        let mut child = filter()?;
        let id = Pid::from_raw(child.id() as i32);
        let (ended, end) = channel::<()>();
        let watch = thread::spawn(move || {
            let is_late = end.recv_timeout(DEADLOCK) == Err(RecvTimeoutError::Timeout);
            if is_late {
                let _ = send_signal(id, Signal::SIGKILL);
            }
            is_late
        });
        let mut stdin = child.stdin.take().expect("it is piped");
        let _ = stdin.write_all(&content); // fails if the program was killed
        drop(stdin);
        let mut output = Vec::new();
        child
            .stdout
            .take()
            .expect("it is piped")
            .read_to_end(&mut output)?;
        drop(ended);
        let is_late = watch.join().expect("the thread does not panic");
        child.wait()?;
        if !is_late {
            expect(&output, &content)?;
        }
        *metrics.entry("deadlocked").or_default() += if is_late { 100.0 } else { 0.0 };
        Ok((1, 1))
    })
}

/// Opens the case `kill`. The output ends when the program and its child have both exited.
pub fn kill(opening: Opening) -> Result<Closed, Failure> {
    let empty = hash(b"");
    serve(opening, |metrics| {
        let limit = Instant::now() + KILL_AFTER;
        let mut child = program("/bin/sh")
            .args(["-c", "/bin/sleep 60 & exec /bin/sleep 60"])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let mut stdout = child.stdout.take().expect("it is piped");
        let (sender, output) = channel();
        let reading = thread::spawn(move || {
            let mut output = Vec::new();
            let end = stdout.read_to_end(&mut output);
            sender.send(end.map(|_| output))
        });
        let left = limit.saturating_duration_since(Instant::now());
        if output.recv_timeout(left).is_ok() {
            return Err(Failure::failed("/bin/sh exited before the timeout"));
        }
        let killed = Instant::now();
        killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL)?;
        let output = output.recv()??;
        let _ = reading.join();
        let status = child.wait()?;
        *metrics.entry("kill_time").or_default() += killed.elapsed().as_nanos() as f64;
        expect(&output, b"")?;
        Ok((empty.wrapping_add(number(status)), 1))
    })
}
