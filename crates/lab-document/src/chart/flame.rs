// SPDX-License-Identifier: Apache-2.0
//! Flame graphs (B. Gregg, *The Flame Graph*, CACM 59(6), 2016).
//!
//! The width of a frame is its function's cost. A frame is drawn above the frame of its caller, so
//! the outermost function is at the bottom. [`SCRIPT`] makes flame graphs searchable and zoomable.
//! Without it, they are still readable.

use super::canvas::{fit, legal};
use super::color::{INK, MUTED, PAPER, hex, numbered};
use crate::document::{Flame, Quantity};
use crate::format::quantity;
use crate::output::Error;

use quick_xml::escape::escape;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The script that makes all flame graphs of a page or a standalone file interactive.
pub const SCRIPT: &str = include_str!("flame.js");

const WIDTH: f64 = 960.0;
const ROW: f64 = 18.0;
const TOP: f64 = 26.0;
/// The minimum width of a frame in pixels. Narrower frames are omitted.
const MIN_WIDTH: f64 = 0.4;
/// The maximum number of frames that are drawn.
const MAX_FRAMES: usize = 4000;
/// The color indexes of frames. The colors have no meaning.
const COLORS: [usize; 4] = [1, 4, 8, 6];

/// A function in a call stack.
#[derive(Default)]
struct StackFrame<'f> {
    /// The cost of the function, including the functions that it calls.
    cost: u64,
    calls: BTreeMap<&'f str, StackFrame<'f>>,
}

impl StackFrame<'_> {
    fn depth(&self, width: f64) -> usize {
        let each = width / self.cost.max(1) as f64;
        let drawn = self
            .calls
            .values()
            .filter(|call| call.cost as f64 * each >= MIN_WIDTH);
        drawn
            .map(|call| 1 + call.depth(call.cost as f64 * each))
            .max()
            .unwrap_or(0)
    }
}

/// Renders the flame graph. Returns an error if the drawing cannot be written.
pub fn draw(id: &str, flame: &Flame) -> Result<String, Error> {
    let mut root = StackFrame::default();
    for (stack, cost) in &flame.stacks {
        let mut frame = &mut root;
        frame.cost = frame.cost.saturating_add(*cost);
        for function in stack {
            frame = frame.calls.entry(function).or_default();
            frame.cost = frame.cost.saturating_add(*cost);
        }
    }
    let rows = root.depth(WIDTH) + 1;
    let height = TOP + ROW * rows as f64 + 8.0;
    let mut drawing = FlameDrawing {
        text: String::new(),
        flame,
        total: root.cost,
        bottom: height - 8.0,
        frames: 0,
    };
    let plot_error = |e: std::fmt::Error| Error::new(format!("plot {id}"), e);
    drawing.begin(height).map_err(plot_error)?;
    drawing
        .frame("all", &root, 0.0, WIDTH, 0)
        .map_err(plot_error)?;
    Ok(drawing.text + "</svg>\n")
}

struct FlameDrawing<'f> {
    text: String,
    flame: &'f Flame,
    total: u64,
    bottom: f64,
    frames: usize,
}

impl FlameDrawing<'_> {
    fn begin(&mut self, height: f64) -> std::fmt::Result {
        let (paper, muted) = (hex(PAPER), hex(MUTED));
        writeln!(
            self.text,
            "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
             data-flame=\"1\">\n<rect x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\" fill=\"{paper}\"/>\n\
             <text class=\"told\" x=\"4\" y=\"16\" font-size=\"12\" fill=\"{muted}\"></text>"
        )
    }

    fn frame(
        &mut self,
        name: &str,
        frame: &StackFrame,
        x: f64,
        width: f64,
        row: usize,
    ) -> std::fmt::Result {
        if width < MIN_WIDTH || self.frames >= MAX_FRAMES {
            return Ok(());
        }
        self.frames += 1;
        let y = self.bottom - ROW * (row + 1) as f64;
        let part = 100.0 * frame.cost as f64 / self.total.max(1) as f64;
        let cost = quantity::short(&Quantity::exact(frame.cost as f64, self.flame.unit.clone()));
        let name = legal(name);
        let title = format!("{name}: {cost}, {part:.1} %");
        let (fill, ink) = (hex(numbered(color(&name))), hex(INK));
        let label = if width > 24.0 {
            fit(&name, width - 6.0)
        } else {
            String::new()
        };
        writeln!(
            self.text,
            "<g data-cost=\"{}\"><title>{}</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" \
             fill=\"{fill}\" fill-opacity=\"0.35\" rx=\"1\"/><text x=\"{:.2}\" y=\"{}\" font-size=\"11\" \
             fill=\"{ink}\">{}</text></g>",
            frame.cost,
            escape(&title),
            ROW - 1.0,
            x + 3.0,
            y + 12.5,
            escape(&label),
        )?;
        let each = width / frame.cost.max(1) as f64;
        let mut left = x;
        for (name, call) in &frame.calls {
            let width = call.cost as f64 * each;
            self.frame(name, call, left, width, row + 1)?;
            left += width;
        }
        Ok(())
    }
}

/// Returns the color index of a frame, which depends only on the function's name.
fn color(name: &str) -> usize {
    let sum = name.bytes().fold(5381usize, |sum, byte| {
        sum.wrapping_mul(33).wrapping_add(byte.into())
    });
    COLORS[sum % COLORS.len()]
}
