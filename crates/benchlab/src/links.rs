// SPDX-License-Identifier: Apache-2.0
//! The links of an experiment between clients and servers: support on this machine, and descriptions.

use crate::exit::Exit;
use lab_bench::netem_unavailable;
use lab_model::{Host, LINK, Plan, Shape, Shaper, grouped};
use lab_plan::{Experiment, Selection};

/// Builds the plan without the links that this machine's kernel cannot shape, and reports these links on standard
/// error.
///
/// # Errors
/// Returns an error if one of these links was requested with `--set`.
pub fn plan(selection: &mut Selection, experiment: &Experiment) -> Result<Plan, Exit> {
    let plan = selection.plan(experiment)?;
    let by_kernel: Vec<String> = links(&plan)
        .filter(|(_, shape)| shape.by == Shaper::Netem)
        .map(|(name, _)| name.to_owned())
        .collect();
    if by_kernel.is_empty() {
        return Ok(plan);
    }
    let Some(reason) = netem_unavailable() else {
        return Ok(plan);
    };
    let requested = selection.set.iter().find(|(key, _)| key == LINK);
    let is_requested = |name: &&String| requested.is_some_and(|(_, values)| values.contains(name));
    if let Some(name) = by_kernel.iter().find(is_requested) {
        return Err(Exit::wrong(format!("--set {LINK}={name}: {reason}")));
    }
    let names = by_kernel.join(", ");
    eprintln!("benchlab: excluded {names}: the kernel cannot shape a link here ({reason})");
    let absent = by_kernel.into_iter().map(|name| (LINK.to_owned(), name));
    selection.absent = absent.collect();
    Ok(selection.plan(experiment)?)
}

/// Adds a fact to the host for each of the plan's links: rates, delay, packet size.
pub fn with_links(mut host: Host, plan: &Plan) -> Host {
    for (name, shape) in links(plan) {
        host.facts
            .push((format!("link {name}"), description(shape)));
    }
    host
}

/// Returns the links of a plan's points, without duplicates.
fn links(plan: &Plan) -> impl Iterator<Item = (&str, &Shape)> {
    let shapes = plan.targets.iter().flat_map(|target| &target.shapes);
    let is_used = |name: &str| {
        let mut params = plan.points.iter().flat_map(|point| &point.params);
        params.any(|(key, value)| key == LINK && value == name)
    };
    shapes
        .filter(move |(name, _)| is_used(name))
        .map(|(name, shape)| (name.as_str(), shape))
}

fn description(shape: &Shape) -> String {
    let [up, down] = [shape.up_kbit_s, shape.down_kbit_s].map(grouped);
    let by = match shape.by {
        Shaper::Lab => "benchlab",
        Shaper::Netem => "the kernel (netem)",
    };
    format!(
        "{up} kbit/s up, {down} down, {} ms round trip, packets of up to {} bytes; shaped by {by}",
        shape.round_trip_ms, shape.mtu
    )
}
