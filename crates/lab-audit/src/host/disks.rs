// SPDX-License-Identifier: Apache-2.0
//! Disks and their partitions.

use super::machine::{AuditedMachine, Probe, bracketed_word};
use crate::smart::Smart;
use crate::value::{AuditObject, Class, Value};
use lab_host::Medium;
use lab_host::Root;
use lab_model::audit::{EvidenceTable, EvidenceValue};
use std::thread;

pub struct Disks;

pub const DISK: Class = Class {
    name: "disk",
    none: "There is no disk in /sys/block.",
    values: &[
        ("model", "model name"),
        ("medium", "nvme, flash, spinning or virtual"),
        ("size", "its size"),
        (
            "rotational",
            "whether the kernel considers the disk a spinning disk",
        ),
        ("scheduler", "I/O scheduler in use"),
        ("schedulers", "available I/O schedulers"),
        ("queue", "requests that the kernel queues"),
        ("device_queue", "concurrent requests that the disk accepts"),
        ("read_ahead", "how far ahead the kernel reads"),
        ("write_cache", "write back or write through"),
        ("discard", "whether the disk supports discard"),
        ("physical_block", "size of a physical block"),
        ("worn", "fraction of the endurance that is used"),
        ("written", "bytes written in the disk's lifetime"),
        ("endurance_left", "bytes that can still be written"),
        ("endurance_by", "how the remaining endurance was determined"),
        ("spare", "fraction of the spare blocks that is left"),
        ("failing", "whether the disk reports that it is failing"),
        (
            "bad_sectors",
            "sectors that were reallocated or cannot be read",
        ),
        (
            "media_errors",
            "times that an NVMe disk could not read or verify data",
        ),
        (
            "uncorrected",
            "errors that the disk could not correct in its lifetime",
        ),
        (
            "self_test",
            "the failed self-test, or none if no self-test failed recently",
        ),
        ("logged_errors", "whether the disk logged errors"),
        (
            "too_hot",
            "whether the disk reports a temperature outside its limits",
        ),
        ("temperature", "current temperature"),
        (
            "warnings",
            "attributes at their thresholds, or other warnings of the disk",
        ),
        (
            "past_warnings",
            "attributes that were at their thresholds earlier",
        ),
    ],
};

pub const PARTITION: Class = Class {
    name: "partition",
    none: "No disk has partitions.",
    values: &[
        ("start", "start of the partition"),
        ("size", "its size"),
        (
            "misalignment",
            "bytes between the start and the previous block boundary",
        ),
        ("block", "size of the blocks for alignment"),
        ("at_mib", "whether the start is at a whole MiB"),
        ("parted_number", "number of the partition"),
        ("disk", "disk of the partition"),
    ],
};

/// The unit in bytes of the sizes and start offsets in /sys. It does not depend on the disk's block
/// size.
const SECTOR: u64 = 512;

impl Probe for Disks {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let root = &machine.root;
        let names = root.names("sys/block");
        let disks = names.iter().filter(|name| is_disk(root, name));
        // The probes run in parallel, because each waits for its disk's SMART data.
        thread::scope(|scope| {
            let probes: Vec<_> = disks
                .map(|name| scope.spawn(move || disk_objects(root, name)))
                .collect();
            let objects = probes.into_iter().flat_map(thread::ScopedJoinHandle::join);
            objects.flatten().collect()
        })
    }
}

/// Returns true for a disk with a nonzero size that is neither in memory nor composed of other
/// devices.
fn is_disk(root: &Root, name: &str) -> bool {
    let virtual_prefixes = ["loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd"];
    let size = root.number(&format!("sys/block/{name}/size")).unwrap_or(0);
    size > 0
        && !virtual_prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

fn disk_objects(root: &Root, name: &str) -> Vec<AuditObject> {
    let text = |file: &str| root.line(&format!("sys/block/{name}/{file}"));
    let number = |file: &str| root.number(&format!("sys/block/{name}/{file}"));
    let mut disk = AuditObject::new("disk", name);
    disk.set(
        "model",
        Value::Word(text("device/model").unwrap_or_else(|| "not reported".into())),
    );
    let rotational = number("queue/rotational").map(|n| n != 0);
    disk.set_some("rotational", rotational.map(Value::Flag));
    let medium = Medium::detect(root, name);
    disk.set("medium", Value::word(medium.word()));
    let size = number("size").map(|n| n * SECTOR);
    disk.set_some("size", size.map(Value::bytes));
    let schedulers = text("queue/scheduler");
    disk.set_some(
        "scheduler",
        schedulers
            .as_deref()
            .and_then(bracketed_word)
            .map(Value::Word),
    );
    let names = schedulers.map(|names| names.replace(['[', ']'], ""));
    disk.set_some("schedulers", names.map(Value::Word));
    disk.set_some(
        "queue",
        number("queue/nr_requests").map(|n| Value::count(n, "requests")),
    );
    let device_queue = number("device/queue_depth");
    disk.set_some(
        "device_queue",
        device_queue.map(|n| Value::count(n, "requests")),
    );
    let read_ahead = number("queue/read_ahead_kb");
    disk.set_some("read_ahead", read_ahead.map(|kib| Value::bytes(kib * 1024)));
    disk.set_some("write_cache", text("queue/write_cache").map(Value::Word));
    let discard = number("queue/discard_max_bytes");
    disk.set_some("discard", discard.map(|max| Value::Flag(max > 0)));
    let physical_block = number("queue/physical_block_size");
    disk.set_some("physical_block", physical_block.map(Value::bytes));
    if medium.word() != "virtual" {
        let smart = Smart::read(root, name);
        let limited_size = size.filter(|_| medium.has_limited_writes());
        set_endurance(&smart, limited_size, &mut disk);
        set_health(smart, &mut disk);
    }
    let block = physical_block.unwrap_or(4096).max(4096);
    let partitions = root.names(&format!("sys/block/{name}"));
    let mut objects = vec![disk];
    objects.extend(
        partitions
            .iter()
            .filter_map(|p| partition(root, name, p, block)),
    );
    objects
}

fn partition(root: &Root, disk: &str, name: &str, block: u64) -> Option<AuditObject> {
    let number = |file: &str| root.number(&format!("sys/block/{disk}/{name}/{file}"));
    let parted_number = number("partition")?;
    let start = number("start")? * SECTOR;
    let mut partition = AuditObject::new("partition", name);
    partition.set("disk", Value::word(disk));
    partition.set("parted_number", Value::count(parted_number, ""));
    partition.set("start", Value::bytes(start));
    partition.set_some("size", number("size").map(|n| Value::bytes(n * SECTOR)));
    partition.set("block", Value::bytes(block));
    partition.set("misalignment", Value::bytes(start % block));
    partition.set("at_mib", Value::Flag(start.is_multiple_of(1 << 20)));
    Some(partition)
}

/// Sets the disk's health from SMART data.
fn set_health(smart: Result<Smart, String>, disk: &mut AuditObject) {
    const NAMES: [&str; 5] = ["worn", "spare", "failing", "bad_sectors", "written"];
    let smart = match smart {
        Ok(smart) => smart,
        Err(reason) => return disk.set_unknown(&NAMES, &format!("{reason}.")),
    };
    let or_unknown = |value: Option<Value>| value.unwrap_or_else(|| unknown(&smart));
    let failing = smart.failing.map(Value::Flag);
    let no_status = || {
        let said = smart.reason.as_ref().map(|reason| format!(" {reason}."));
        let said = said.unwrap_or_default();
        Value::Unknown(format!(
            "smartctl shows no health status of this disk.{said}"
        ))
    };
    disk.set("failing", failing.unwrap_or_else(no_status));
    disk.set("worn", worn(&smart).unwrap_or_else(|| or_unknown(None)));
    disk.set_some("spare", smart.spare.map(Value::fraction));
    match smart.media_errors {
        Some(n) => disk.set("media_errors", Value::count(n, "errors")),
        None => {
            let sectors = smart.bad_sectors;
            let sectors = sectors.map(|n| Value::count(n, "sectors"));
            let unclear = smart.unclear_bad_blocks.as_deref();
            let unclear = unclear.map(|attribute| unclear_value("bad blocks", attribute));
            disk.set("bad_sectors", or_unknown(sectors.or(unclear)));
        }
    }
    let written = smart.written.map(|n| Value::bytes(n as u64));
    disk.set("written", written.unwrap_or(Value::word("not reported")));
    set_errors(&smart, disk);
    set_warnings(&smart, disk);
}

/// Returns an unknown value, with the reason a disk does not show it.
fn unknown(smart: &Smart) -> Value {
    const UNNAMED: &str = "smartctl does not know this model, so the meaning of its attributes is \
        uncertain; try `update-smart-drivedb`.";
    const NO_ATTRIBUTE: &str =
        "This model has no attribute that benchlab understands for this value.";
    // Without attributes, the reason of smartctl is the only one.
    let own = match smart.unnamed {
        true => Some(UNNAMED),
        false => Some(NO_ATTRIBUTE).filter(|_| smart.reason.is_none() || smart.warnings.is_some()),
    };
    let said = smart.reason.as_ref().map(|reason| format!("{reason}."));
    let reasons = own.map(str::to_owned).into_iter().chain(said);
    let reason = reasons.collect::<Vec<String>>().join(" ");
    Value::Unknown(reason)
}

/// Returns an unknown value. The reason is that the unit or the meaning of the disk's attribute is
/// not known.
fn unclear_value(subject: &str, attribute: &str) -> Value {
    Value::Unknown(format!(
        "This model has an attribute for {subject}, {attribute}, but benchlab does not know its \
        unit or meaning."
    ))
}

/// Sets the errors that the disk counted or logged, and its failed self-test.
fn set_errors(smart: &Smart, disk: &mut AuditObject) {
    let uncorrected = smart.uncorrected.map(|n| Value::count(n, "errors"));
    disk.set_some("uncorrected", uncorrected);
    let self_test = smart.failed_self_test.as_ref().map(|test| match test {
        Ok(test) if test.is_empty() => Value::word("none"),
        Ok(test) => Value::word(test),
        Err(reason) => Value::Unknown(format!(
            "The disk did not return its self-test log: {reason}."
        )),
    });
    disk.set_some("self_test", self_test);
    disk.set_some("logged_errors", smart.logged_errors.map(Value::Flag));
}

/// Returns the used fraction of the endurance, or the reason the attribute that shows it cannot
/// be interpreted. Returns `None` without such an attribute.
fn worn(smart: &Smart) -> Option<Value> {
    let unclear = smart.unclear_wear.as_deref();
    let unclear = unclear.map(|attribute| unclear_value("the wear", attribute));
    smart.worn.map(Value::fraction).or(unclear)
}

/// Sets the temperature and the warnings.
fn set_warnings(smart: &Smart, disk: &mut AuditObject) {
    disk.set_some("too_hot", smart.too_hot.map(Value::Flag));
    let temperature = smart.temperature.map(|celsius| format!("{celsius} °C"));
    let temperature = temperature.unwrap_or("not reported".into());
    disk.set("temperature", Value::Word(temperature));
    let listed = |warnings: &[String]| match warnings {
        [] => Value::word("none"),
        warnings => Value::Word(warnings.join(", ")),
    };
    if let Some(warnings) = &smart.warnings {
        disk.set("warnings", listed(warnings));
        disk.set("past_warnings", listed(&smart.past_warnings));
    }
}

/// Sets the remaining endurance of a flash disk of `size` bytes.
fn set_endurance(smart: &Result<Smart, String>, size: Option<u64>, disk: &mut AuditObject) {
    if let (Ok(smart), Some(size)) = (smart, size) {
        let endurance = smart.endurance(size as f64);
        disk.set("endurance_left", Value::bytes(endurance.left as u64));
        disk.set("endurance_by", Value::word(endurance.by));
    }
}

/// Builds a table of the partitions, with the filesystems that are mounted from them.
pub fn partitions_table(objects: &[AuditObject]) -> EvidenceTable {
    let word = |object: &AuditObject, name: &str| object.values.get(name).map(Value::text);
    let filesystem_of = |partition: &AuditObject| {
        let device = Some(format!("/dev/{}", partition.name));
        let is_its_filesystem = |object: &&AuditObject| {
            object.class == "filesystem" && word(object, "device") == device
        };
        let filesystem = objects.iter().find(is_its_filesystem)?;
        Some(format!(
            "{} on {}",
            word(filesystem, "type")?,
            filesystem.name
        ))
    };
    let alignment = |partition: &AuditObject| {
        let at_block = partition.values.get("misalignment") == Some(&Value::bytes(0));
        match (
            at_block,
            partition.values.get("at_mib") == Some(&Value::Flag(true)),
        ) {
            (false, _) => "no",
            (true, false) => "to a block",
            (true, true) => "to a MiB",
        }
    };
    let partitions = objects.iter().filter(|object| object.class == "partition");
    let row = |partition: &AuditObject| {
        let value = |name: &str| {
            let value = partition.values.get(name);
            value.map_or(EvidenceValue::Nothing, Value::evidence)
        };
        vec![
            EvidenceValue::Word(partition.name.clone()),
            value("start"),
            value("size"),
            EvidenceValue::Word(alignment(partition).into()),
            filesystem_of(partition).map_or(EvidenceValue::Nothing, EvidenceValue::Word),
        ]
    };
    let columns = ["partition", "start", "size", "aligned", "filesystem"];
    EvidenceTable {
        title: "Partitions".into(),
        caption: String::new(),
        columns: columns.map(String::from).into(),
        rows: partitions.map(row).collect(),
    }
}

/// Builds a table of the disks.
pub fn table(objects: &[AuditObject]) -> EvidenceTable {
    let columns = [
        ("", "disk"),
        ("model", "model"),
        ("medium", "medium"),
        ("size", "size"),
        ("scheduler", "scheduler"),
        ("queue", "queue"),
        ("read_ahead", "read ahead"),
        ("write_cache", "write cache"),
        ("worn", "endurance used"),
        ("written", "written"),
        ("endurance_left", "endurance left"),
    ];
    super::machine::table(objects, "disk", "Disks", &columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::audit::State;

    /// A self-test log that could not be read does not hide what the other logs show.
    #[test]
    fn without_its_self_test_log_a_disk_is_not_known_to_be_good() {
        let rules = crate::host::rules().expect("rules");
        let rule = rules.iter().find(|rule| rule.id == "disk-health");
        let rule = rule.expect("a rule");
        let health = |failed_self_test, media_errors| {
            let smart = Smart {
                failing: Some(false),
                media_errors: Some(media_errors),
                failed_self_test,
                ..Smart::default()
            };
            let mut disk = AuditObject::new("disk", "nvme0n1");
            set_health(Ok(smart), &mut disk);
            crate::judge::finding(rule, &disk)
        };
        let unread = || Some(Err("Input/output error".to_owned()));
        let finding = health(unread(), 0);
        assert_eq!(finding.state, State::Unknown);
        assert!(finding.seen.contains("self-test log"), "{}", finding.seen);
        assert_eq!(health(unread(), 5).state, State::Bad);
        assert_eq!(health(Some(Ok("failed".into())), 0).state, State::Bad);
        assert_eq!(health(Some(Ok(String::new())), 0).state, State::Good);
    }
}
