// SPDX-License-Identifier: Apache-2.0
//! An agent that generates no load, but reports simulated slices of 100,000 requests per second.
//! `benches/load/agents.py` makes a coordinator start a thousand of these agents instead of ssh.

use lab_load::SliceRecord;
use lab_many::clock::ClockReading;
use lab_many::load::{LoadOrder, LoadReport, bytes};
use lab_many::message::{Hello, ToAgent, ToCoordinator};
use lab_many::wire;
use lab_many::work::AgentWork;
use lab_model::{Host, PointId, Slice, SubjectId};
use std::io::{self, BufReader, Write};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

const RATE: u64 = 100_000;

/// The environment variable with the SHA-256 that this agent reports for its program.
const HASH: &str = "SIMULATED_SHA256";

static OUT: Mutex<()> = Mutex::new(());

fn main() -> io::Result<()> {
    let hello = Hello {
        version: env!("CARGO_PKG_VERSION").into(),
        sha256: std::env::var(HASH).ok(),
        pid: std::process::id() as i32,
        machine: "simulated".into(),
        machine_id: None,
    };
    io::stdout().write_all(wire::MAGIC)?;
    say(&ToCoordinator::Hello(hello), &[])?;
    let mut input = BufReader::new(io::stdin());
    while let Some((message, _)) = wire::read(&mut input)? {
        match message {
            ToAgent::Welcome { .. } => {
                thread::spawn(beat);
            }
            ToAgent::Beat | ToAgent::Stop { .. } => {}
            ToAgent::Clock { number } => {
                let now = ClockReading::now();
                let reply = ToCoordinator::Clock {
                    number,
                    received: now,
                    answered: now,
                };
                say(&reply, &[])?;
            }
            ToAgent::Work(work) => {
                let work: AgentWork = serde_json::from_value(work)?;
                thread::spawn(move || run_work(work));
            }
            ToAgent::End => break,
        }
    }
    Ok(())
}

/// Sends heartbeats. Like a real agent, this one is silent until it is welcomed.
fn beat() {
    loop {
        thread::sleep(Duration::from_secs(1));
        // The other thread notices when the coordinator has exited.
        let _ = say(&ToCoordinator::Beat, &[]);
    }
}

fn say(message: &ToCoordinator, body: &[u8]) -> io::Result<()> {
    let _one = OUT.lock();
    wire::write(&mut io::stdout(), message, body)
}

fn report_work(report: &LoadReport, body: &[u8]) -> io::Result<()> {
    say(&ToCoordinator::Work(serde_json::to_value(report)?), body)
}

fn run_work(work: AgentWork) -> io::Result<()> {
    match work {
        AgentWork::Load(LoadOrder::Find { requests, .. }) => {
            let (host, first) = (Host::default(), vec![Vec::new(); requests.len()]);
            report_work(&LoadReport::Found { host, first }, &[])
        }
        AgentWork::Load(LoadOrder::Open { .. }) => report_work(&LoadReport::Opened, &[]),
        AgentWork::Load(LoadOrder::Load {
            number,
            begin_ns,
            length_ns,
            slice_ns,
            ..
        }) => {
            let made_up = slice(slice_ns);
            for slice_number in 1..=length_ns / slice_ns {
                let remaining =
                    begin_ns + (slice_number * slice_ns) as i64 - ClockReading::now().monotonic_ns;
                thread::sleep(Duration::from_nanos(remaining.max(0) as u64));
                let mut slice = made_up.clone();
                let body = bytes::take(&mut slice).map_err(io::Error::other)?;
                let report = LoadReport::Slice {
                    number,
                    late_ns: 0,
                    slice: Box::new(slice),
                    errors: Vec::new(),
                };
                report_work(&report, &body)?;
            }
            report_work(&LoadReport::Ended { number }, &[])
        }
        _ => Ok(()),
    }
}

/// Generates a slice with exponentially distributed times, which differ from agent to agent.
fn slice(slice_ns: u64) -> Slice {
    let requests = RATE * slice_ns / 1_000_000_000;
    let mut record = SliceRecord {
        wall_ns: slice_ns,
        offered: requests,
        served: requests,
        cpu_ns: slice_ns / 2,
        busiest_cpu_ns: slice_ns / 2,
        ..SliceRecord::new()
    };
    // The linear congruential generator of Knuth's MMIX: The Art of Computer Programming, volume 2, 3.3.4.
    let mut state = u64::from(std::process::id());
    let mut exponential = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        -((state >> 11) as f64 / (1_u64 << 53) as f64)
            .max(1e-12)
            .ln()
    };
    for _ in 0..requests {
        let service = 200_000.0 + 300_000.0 * exponential();
        let send_delay = 5_000.0 * exponential();
        record.service.saturating_record(service as u64);
        record
            .response
            .saturating_record((service + send_delay) as u64);
        record.send_delay.saturating_record(send_delay as u64);
    }
    record.slice(PointId(0), SubjectId(0), 0)
}
