// SPDX-License-Identifier: Apache-2.0
//! The periods of a measured run.

use lab_document::Span;
use lab_model::{Block, BlockState, Plan, PointId, Run, SubjectId};

/// The maximum number of turns that are shown individually. A run with short turns can have
/// millions of them.
const TURNS: usize = 20_000;

/// Returns the pilots, the blocks, and the turns of subjects within the blocks.
///
/// The run file has no time for each turn, so turns are placed one after another from the start of their block.
pub fn timeline(run: &Run, plan: &Plan) -> Vec<Span> {
    let mut spans = Vec::new();
    if let Some(length_ns) = run.pilots_ns {
        spans.push(Span {
            track: "pilots".into(),
            name: "pilots".into(),
            length_ns,
            ..Span::default()
        });
    }
    let mut turns = 0;
    for block in &run.blocks {
        let agent = block.agent.map(|agent| run.agent_name(agent));
        let named = |what: &str| match &agent {
            Some(agent) => format!("{what} on {agent}"),
            None => what.to_owned(),
        };
        let start_ns = ((block.started_unix_s - run.started_unix_s).max(0.0) * 1e9) as u64;
        spans.push(Span {
            track: named("blocks"),
            name: format!("block {}", block.number),
            start_ns,
            length_ns: block.duration_ns,
            facts: facts(block),
        });
        let (mut at, track) = (start_ns, named("turns (placed one after another)"));
        for (subject, point, pass, length_ns) in turns_of(block) {
            turns += 1;
            if turns > TURNS {
                break;
            }
            let name = plan
                .subjects
                .get(subject)
                .map_or("?", |subject| &subject.name);
            let mut facts = vec![("pass".to_owned(), pass.to_string())];
            if plan.points.has_id(point) {
                facts.push(("point".into(), plan.label(point)));
            }
            spans.push(Span {
                track: track.clone(),
                name: name.to_owned(),
                start_ns: at,
                length_ns,
                facts,
            });
            at = at.saturating_add(length_ns);
        }
    }
    spans
}

fn facts(block: &Block) -> Vec<(String, String)> {
    let state = match block.state {
        BlockState::Complete => "complete",
        _ => "not used",
    };
    let mut facts = vec![
        ("state".to_owned(), state.to_owned()),
        ("attempt".into(), block.attempt.to_string()),
        ("core".into(), block.core.to_string()),
    ];
    let set = block.process_set;
    facts.extend(set.map(|set| ("set of processes".into(), set.to_string())));
    facts
}

/// Returns the turns of a block in chronological order, each with its pass and its length in ns.
fn turns_of(block: &Block) -> impl Iterator<Item = (SubjectId, PointId, u32, u64)> {
    let samples = block.samples.iter();
    let samples = samples.map(|s| (s.subject, s.point, s.pass, s.batch.wall_ns));
    let slices = block.slices.iter();
    let slices = slices.map(|s| {
        (
            s.subject,
            s.point,
            s.pass,
            s.wall_ns.saturating_add(s.drain_ns),
        )
    });
    samples.chain(slices)
}
