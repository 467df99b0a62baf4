// SPDX-License-Identifier: Apache-2.0
//! Memory, threads and start-up time of subjects, over the complete blocks.

use crate::analysis::Footprint;
use crate::order;
use lab_model::{Block, Plan, Process, Resources, Run, SubjectId};

/// The footprint of each subject of which a complete block knows process and resources. Intervals
/// are individual, at the plan's level.
pub fn footprints(run: &Run, plan: &Plan) -> Vec<Footprint> {
    let subjects = 0..plan.subjects.len();
    subjects
        .filter_map(|subject| footprint(run, subject, plan.measure.alpha))
        .collect()
}

fn footprint(run: &Run, subject: SubjectId, alpha: f64) -> Option<Footprint> {
    let over_blocks = |value: &dyn Fn(&Block) -> Option<f64>| -> Vec<f64> {
        run.complete_blocks().filter_map(value).collect()
    };
    let at_end = |value: fn(&Resources) -> u64| {
        over_blocks(&|block| resources(block, subject).last().map(|r| value(r) as f64))
    };
    let peaks = over_blocks(&|block| {
        resources(block, subject)
            .map(|r| r.peak_rss_bytes)
            .max()
            .map(|peak| peak as f64)
    });
    let servers = over_blocks(&|block| {
        let known = resources(block, subject).filter_map(|r| r.server_bytes);
        known.max().map(|bytes| bytes as f64)
    });
    let startups = over_blocks(&|block| process(block, subject).map(|p| p.startup_ns as f64));
    let threads = run
        .complete_blocks()
        .flat_map(|block| resources(block, subject));
    Some(Footprint {
        subject,
        rss_bytes: order::median_interval(&at_end(|r| r.rss_bytes), alpha)?,
        peak_rss_bytes: order::median_interval(&peaks, alpha)?,
        startup_ns: order::median_interval(&startups, alpha)?,
        threads: threads.map(|r| r.threads).max()?,
        server_bytes: order::median_interval(&servers, alpha),
        user_ns: order::median(&at_end(|r| r.user_ns))?,
        sys_ns: order::median(&at_end(|r| r.sys_ns))?,
    })
}

fn resources(block: &Block, subject: SubjectId) -> impl Iterator<Item = &Resources> {
    block.resources.iter().filter(move |r| r.subject == subject)
}

fn process(block: &Block, subject: SubjectId) -> Option<&Process> {
    block.processes.iter().find(|p| p.subject == subject)
}
