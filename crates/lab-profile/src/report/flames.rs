// SPDX-License-Identifier: Apache-2.0
//! Flame graphs of a profile's allocations and misses.

use super::ProfilePair;
use crate::Profile;
use crate::wording;
use lab_document::chart::file_name;
use lab_document::{Chart, Drawing, Flame, Section};
use lab_model::Unit;
use lab_valgrind::Stack;

/// Builds a section with the flame graphs of each program.
pub fn section(pair: &ProfilePair) -> Section {
    let mut section = Section::new(wording::FLAMES);
    for (name, profile) in pair.each() {
        section.chart(allocations(name, profile));
        section.chart(misses(name, profile));
    }
    section
}

fn allocations(name: &str, profile: &Profile) -> Option<Chart> {
    let stacks = profile.dhat.as_ref()?.stacks(|point| point.bytes);
    chart(
        (name, wording::ALLOCATIONS_FLAME),
        wording::ALLOCATIONS_FLAME_CAPTION,
        (Unit::Bytes, stacks),
    )
}

fn misses(name: &str, profile: &Profile) -> Option<Chart> {
    let costs = profile.callgrind.as_ref()?;
    let event = costs.chosen_event();
    chart(
        (name, wording::meaning(event)),
        wording::COSTS_FLAME_CAPTION,
        (wording::unit(event), costs.stacks(event)),
    )
}

fn chart(
    (name, costs): (&str, &str),
    caption: &str,
    (unit, stacks): (Unit, Vec<Stack>),
) -> Option<Chart> {
    (!stacks.is_empty()).then(|| Chart {
        id: format!("flame-{}", file_name(&format!("{name} {costs}"))),
        title: wording::flame(costs, name),
        caption: caption.into(),
        drawing: Drawing::Flame(Flame { unit, stacks }),
    })
}
