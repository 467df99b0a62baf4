// SPDX-License-Identifier: Apache-2.0
//! The links of an experiment between clients and servers: which of them this machine can have, and what they are like.

use crate::exit::Exit;
use lab_bench::netem_unavailable;
use lab_model::{Host, LINK, Plan, Shape, Shaper, grouped};
use lab_plan::{Experiment, Selection};

/// The plan, without links that the kernel cannot shape here, which are named.
pub fn plan(selection: &mut Selection, experiment: &Experiment) -> Result<Plan, Exit> {
    let plan = selection.plan(experiment)?;
    let by_kernel: Vec<String> = links(&plan)
        .filter(|(_, shape)| shape.by == Shaper::Netem)
        .map(|(name, _)| name.to_owned())
        .collect();
    if by_kernel.is_empty() {
        return Ok(plan);
    }
    let Some(why) = netem_unavailable() else {
        return Ok(plan);
    };
    let asked = selection.set.iter().find(|(key, _)| key == LINK);
    let is_asked = |name: &&String| asked.is_some_and(|(_, values)| values.contains(name));
    if let Some(name) = by_kernel.iter().find(is_asked) {
        return Err(Exit::wrong(format!("--set {LINK}={name}: {why}")));
    }
    let names = by_kernel.join(", ");
    eprintln!("benchlab: {names} is left out, which the kernel would shape: {why}");
    let absent = by_kernel.into_iter().map(|name| (LINK.to_owned(), name));
    selection.absent = absent.collect();
    Ok(selection.plan(experiment)?)
}

/// What the plan's links are like, among the facts of the host.
pub fn told(mut host: Host, plan: &Plan) -> Host {
    for (name, shape) in links(plan) {
        host.facts.push((format!("link {name}"), words(shape)));
    }
    host
}

/// The links of a plan's points, each once.
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

fn words(shape: &Shape) -> String {
    let [up, down] = [shape.up_kbit_s, shape.down_kbit_s].map(grouped);
    let by = match shape.by {
        Shaper::Lab => "the lab",
        Shaper::Netem => "the kernel (netem)",
    };
    format!(
        "{up} kbit/s up, {down} down, {} ms there and back, packets of {} bytes; shaped by {by}",
        shape.round_trip_ms, shape.mtu
    )
}
