// SPDX-License-Identifier: Apache-2.0
//! Shapes of links, and cases that refer to them with the factor `link` (docs/experiments.md, `[target.link]`).

use crate::PlanError;
use crate::error::ErrorAt;
use crate::file::{self, Case, File};
use lab_model::{LINK, Metric, Shape, Target, TargetKind};

/// Validates the shapes of a target.
///
/// # Errors
/// Returns an error if a shape is impossible or if the target is not a link.
pub fn shapes(
    kind: TargetKind,
    target: &file::Target,
    at: ErrorAt,
) -> Result<Vec<(String, Shape)>, PlanError> {
    let understood = |(name, shape): (&String, &toml::Spanned<Shape>)| {
        let wrong = |reason: &str| at(shape.span(), format!("`{name}`: {reason}"));
        if kind != TargetKind::Link {
            return Err(wrong("only a link has a shape"));
        }
        shape.get_ref().check().map_err(wrong)?;
        Ok((name.clone(), shape.get_ref().clone()))
    };
    target.shape.iter().map(understood).collect()
}

/// Validates the cases on a link.
///
/// # Errors
/// Returns an error if a case does not name a shape, or names a shape that does not exist.
pub fn understand(file: &File, targets: &[Target], at: ErrorAt) -> Result<(), PlanError> {
    let Some(target) = targets
        .iter()
        .find(|target| target.kind == TargetKind::Link)
    else {
        return Ok(());
    };
    let names = || target.shapes.iter().map(|(name, _)| name.as_str());
    for case in file.case.iter().filter(|case| is_on_link(case)) {
        let Some(factor) = case.factor.get(LINK) else {
            let reason = format!("a case on a link needs `factor.{LINK}`, the names of shapes");
            return Err(at(case.name.span(), reason));
        };
        let unknown = values(factor.get_ref())
            .iter()
            .find(|value| !names().any(|name| name == value.as_str()));
        if let Some(value) = unknown {
            let reason = format!("[target.link] has no `shape.{value}`");
            return Err(at(factor.span(), reason).with_nearest(value, names()));
        }
    }
    Ok(())
}

/// Returns the metric that benchlab measures for each batch of a case on a link.
pub fn metric_of(case: &Case, targets: &[Target]) -> Option<Metric> {
    let has_link = targets.iter().any(|target| target.kind == TargetKind::Link);
    (has_link && is_on_link(case)).then_some(Metric::LINK_BYTES)
}

fn is_on_link(case: &Case) -> bool {
    let targets = &case.targets;
    targets.is_empty()
        || targets
            .iter()
            .any(|kind| *kind.get_ref() == TargetKind::Link)
}

fn values(factor: &file::Factor) -> &[String] {
    match factor {
        file::Factor::Values(values) | file::Factor::OnTargets { values, .. } => values,
    }
}
