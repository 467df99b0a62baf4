// SPDX-License-Identifier: Apache-2.0
//! Costs by call stack, for flame graphs. DHAT records whole stacks. For Callgrind, stacks are
//! inferred from the calls.

use crate::costs::CostProfile;
use crate::dhat::{AllocationPoint, Dhat};
use crate::names::clean;
use std::collections::HashMap;

/// A call stack, outermost function first, and its self cost.
pub type Stack = (Vec<String>, u64);

/// The minimum fraction of the total cost. Functions below it are omitted together with everything that they call.
const MIN_FRACTION: f64 = 0.0005;

/// The maximum depth of a stack.
const MAX_DEPTH: usize = 60;

impl Dhat {
    /// Returns the stacks that allocated blocks, each with the sum of a value over the blocks. Stacks with the same
    /// function names are merged.
    pub fn stacks(&self, figure: impl Fn(&AllocationPoint) -> u64) -> Vec<Stack> {
        let mut sums: HashMap<Vec<String>, u64> = HashMap::new();
        for point in &self.points {
            let frames = point.stack.iter().rev();
            let frames = frames.filter_map(|frame| self.frames.get(*frame as usize));
            let outside =
                frames.filter(|frame| !frame.is_allocator() && frame.function != "[root]");
            let stack = outside.map(|frame| clean(&frame.function).to_owned());
            let sum = sums.entry(stack.collect()).or_default();
            *sum = sum.saturating_add(figure(point));
        }
        let mut stacks: Vec<Stack> = sums.into_iter().filter(|(_, cost)| *cost > 0).collect();
        stacks.sort();
        stacks
    }
}

/// A function in the call graph.
#[derive(Default)]
struct Node {
    self_cost: f64,
    /// The total cost of all calls to the function.
    called: f64,
    /// The functions that the function calls, as indexes, each with the cost of the calls.
    calls: Vec<(usize, f64)>,
}

impl Node {
    fn inclusive(&self) -> f64 {
        self.self_cost + self.calls.iter().map(|(_, cost)| cost).sum::<f64>()
    }
}

impl CostProfile {
    /// Returns the stacks with their costs for an event or a sum of events.
    ///
    /// Callgrind records callers and callees, but not whole stacks. The cost of a function's calls is therefore divided
    /// among its callers in proportion to the cost of their calls (Graham, Kessler, McKusick, *gprof: a Call Graph
    /// Execution Profiler*, 1982). A call to a function that is already on the stack does not extend the stack.
    pub fn stacks(&self, event: &str) -> Vec<Stack> {
        let mut graph = Graph::default();
        for function in self.functions() {
            let self_cost = self.value(event, function.costs).unwrap_or(0) as f64;
            let node = graph.node(function.name);
            graph.nodes[node].self_cost += self_cost;
        }
        for call in self.calls() {
            let (caller, callee) = (graph.node(call.caller.1), graph.node(call.callee.1));
            let cost = self.value(event, call.costs).unwrap_or(0) as f64;
            if caller != callee && cost > 0.0 {
                graph.nodes[caller].calls.push((callee, cost));
                graph.nodes[callee].called += cost;
            }
        }
        graph.stacks(self.total_of(event).unwrap_or(0) as f64)
    }
}

#[derive(Default)]
struct Graph<'p> {
    numbers: HashMap<&'p str, usize>,
    names: Vec<&'p str>,
    nodes: Vec<Node>,
}

impl<'p> Graph<'p> {
    /// Returns the index of a function. Like Callgrind, the graph keeps the levels of a recursion separate (`walk'2`),
    /// because the costs in a cycle would be counted twice.
    fn node(&mut self, name: &'p str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.nodes.push(Node::default());
            self.nodes.len() - 1
        })
    }

    /// Builds the stacks. They start at functions whose inclusive cost exceeds the cost of the
    /// calls to them.
    fn stacks(&self, total: f64) -> Vec<Stack> {
        let mut stacks = Vec::new();
        let beyond = |node: &Node| (node.inclusive() - node.called).max(0.0);
        // If the costs in a file do not add up, calls can cost more than the total. The number of
        // stacks stays bounded even in this case.
        let whole: f64 = self.nodes.iter().map(beyond).sum();
        let least = total.max(whole) * MIN_FRACTION;
        for (root, node) in self.nodes.iter().enumerate() {
            let beyond = beyond(node);
            if beyond > least {
                let mut path = vec![root];
                self.descend(&mut path, beyond / node.inclusive(), least, &mut stacks);
            }
        }
        stacks.sort();
        stacks
    }

    /// Adds the stacks that extend a path. `part` is the fraction of the last function's cost that belongs to the path.
    fn descend(&self, path: &mut Vec<usize>, part: f64, least: f64, stacks: &mut Vec<Stack>) {
        let Some(node) = path.last().map(|last| &self.nodes[*last]) else {
            return;
        };
        let mut self_cost = node.self_cost * part;
        for &(callee, cost) in &node.calls {
            let cost = cost * part;
            let below = &self.nodes[callee];
            if cost < least || path.len() >= MAX_DEPTH || path.contains(&callee) {
                self_cost += cost;
                continue;
            }
            path.push(callee);
            self.descend(
                path,
                cost / below.inclusive().max(below.called),
                least,
                stacks,
            );
            path.pop();
        }
        if self_cost >= 1.0 {
            let names = path
                .iter()
                .map(|function| clean(self.names[*function]).to_owned());
            stacks.push((names.collect(), self_cost.round() as u64));
        }
    }
}
