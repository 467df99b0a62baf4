// SPDX-License-Identifier: Apache-2.0
//! A document's call stacks as folded stacks, for flame graph tools (github.com/brendangregg/FlameGraph).

use super::text::clean;
use crate::document::{Document, Drawing, Flame};
use crate::output::{Error, Format, Rendered};

/// Folded stacks.
pub const FORMAT: Format = Format {
    name: "folded",
    extension: "folded",
    title: "Call stacks (folded)",
    is_folder: false,
    shows_history: false,
    suits: |document| graphs(document).is_ok(),
    render: |document, _| render(document).map(Rendered::Text),
};

/// Renders each stack as its functions, joined with `;`, followed by a space and the cost. If there
/// are multiple flame graphs, each stack starts with the title of its graph.
///
/// Returns an error if the document has no flame graph.
pub fn render(document: &Document) -> Result<String, Error> {
    let graphs = graphs(document)?;
    let mut text = String::new();
    for (title, flame) in &graphs {
        for (stack, cost) in &flame.stacks {
            let root = (graphs.len() > 1).then_some(title.as_str());
            let frames = root.into_iter().chain(stack.iter().map(String::as_str));
            let frames: Vec<String> = frames.map(frame).collect();
            text += &format!("{} {cost}\n", frames.join(";"));
        }
    }
    Ok(text)
}

/// Returns the flame graphs with their titles.
pub(crate) fn graphs(document: &Document) -> Result<Vec<(String, &Flame)>, Error> {
    let charts = document.charts().into_iter();
    let flames = charts.filter_map(|chart| match &chart.drawing {
        Drawing::Flame(flame) => Some((clean(&chart.title), flame)),
        _ => None,
    });
    let flames: Vec<_> = flames.collect();
    if flames.is_empty() {
        let reason =
            "this report has no flame graph; `benchlab profile` creates reports that have one";
        return Err(Error::new("call stacks", reason));
    }
    Ok(flames)
}

/// Returns the name of a frame. Replaces `;`, which would end the frame.
fn frame(name: &str) -> String {
    clean(name).replace(';', ":")
}
