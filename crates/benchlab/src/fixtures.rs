// SPDX-License-Identifier: Apache-2.0
//! The fixtures of an experiment: builds them, checks which states this machine supports, and
//! prints how to make the winner's state permanent.

use crate::exit::Exit;
use crate::output::say;
use crate::ready::build_programs;
use lab_bench::{Checked, Fault, FixtureDirectory, check_states};
use lab_document::clean;
use lab_model::{Failure, Fixture, FixtureState, Host, Plan, Selector, SubjectId, distinct};
use lab_plan::{Experiment, Project, Selection};
use lab_stats::results::Over;
use std::path::Path;

/// A project with the experiment whose fixtures are used.
#[derive(Clone, Copy)]
pub struct Fixtures<'a> {
    /// The project that contains the experiment.
    pub project: &'a Project,
    /// The experiment whose fixtures are used.
    pub experiment: &'a Experiment,
    /// True if missing toolchains may be installed.
    pub installs: bool,
}

/// Adds the arguments of each fixture state that the plan selects to the facts about the host.
pub fn with_states(mut host: Host, plan: &Plan) -> Host {
    for fixture in &plan.fixtures {
        for state in states(plan, fixture) {
            let args = state
                .args
                .iter()
                .map(|(key, value)| format!("{key}={value}"));
            let args: Vec<String> = args.collect();
            let name = format!("{} {}", fixture.name, state.name);
            host.facts.push((name, args.join(", ")));
        }
    }
    host
}

/// Returns the states of a fixture that the plan's points and subjects select, without duplicates.
fn states<'p>(plan: &Plan, fixture: &'p Fixture) -> Vec<&'p FixtureState> {
    let points = plan.points.ids();
    let of_points = points.filter_map(|point| plan.state_of_point(fixture, point));
    let subjects = plan.subjects.ids();
    let of_subjects = subjects.filter_map(|subject| plan.state_of_subject(fixture, subject));
    distinct(of_points.chain(of_subjects))
}

impl Fixtures<'_> {
    /// Builds the plan without the points whose fixture state this machine does not support, and
    /// reports the excluded values on standard error.
    ///
    /// The default baseline is the subject whose states the machine already has.
    ///
    /// # Errors
    /// Returns an error if a fixture cannot run, or if it does not support a value requested with
    /// `--set`.
    pub fn plan(self, selection: &mut Selection) -> Result<Plan, Exit> {
        let plan = selection.plan(self.experiment)?;
        if plan.fixtures.is_empty() {
            return Ok(plan);
        }
        self.build(&plan)?;
        if selection.baseline.is_none() {
            selection.baseline = self.current_subject(&plan)?;
        }
        for fixture in &plan.fixtures {
            self.exclude_unsupported_points(selection, &plan, fixture)?;
        }
        Ok(selection.plan(self.experiment)?)
    }

    /// Builds the fixtures of a plan. Returns each fixture's name and the SHA-256 of its sources.
    ///
    /// # Errors
    /// Returns an error if a fixture cannot run.
    pub fn build(self, plan: &Plan) -> Result<Vec<(String, String)>, Exit> {
        let is_used = |name: &str| plan.fixtures.iter().any(|fixture| fixture.name == name);
        let fixtures = self.experiment.fixtures.iter();
        let programs = fixtures.filter(|fixture| is_used(&fixture.model.name));
        let programs: Vec<_> = programs.map(|fixture| &fixture.program).collect();
        let outcomes =
            build_programs(self.project, self.experiment, &programs, self.installs, &[])?;
        let named = programs.iter().zip(outcomes);
        let hashes = named.map(|(program, outcome)| {
            let name = program.model.name.clone();
            let hash = outcome.map_err(|_| {
                Exit::failed(format!("nothing was measured, because {name} cannot run"))
            });
            Ok((name, hash?))
        });
        hashes.collect()
    }

    /// Returns a failure for each subject whose state cannot be set. The fixtures must already be
    /// built.
    ///
    /// # Errors
    /// Returns an error if a fixture fails.
    pub fn unavailable(self, plan: &Plan) -> Result<Vec<Failure>, Exit> {
        let mut failures = Vec::new();
        for (subject, checked) in self.checked_subjects(plan)? {
            let reasons = checked.into_iter().filter_map(|checked| match checked {
                Checked::Impossible(reason) => Some(reason),
                Checked::Possible { .. } => None,
            });
            let Some(message) = reasons.reduce(|all, reason| format!("{all}; {reason}")) else {
                continue;
            };
            let Some(planned) = plan.subjects.get(subject) else {
                continue;
            };
            if planned.control_of.is_none() {
                eprintln!("benchlab: {} cannot run: {}", planned.name, clean(&message));
            }
            failures.push(Failure {
                subject,
                point: None,
                block: None,
                kind: "fixture".into(),
                message,
                log: Vec::new(),
            });
        }
        Ok(failures)
    }

    /// Prints how to make the states of the winning subject permanent, if its fixtures support
    /// this.
    ///
    /// # Errors
    /// Returns an error if a fixture fails or the run file cannot be read.
    pub fn print_permanent(self, plan: &Plan, file: &Path) -> Result<(), Exit> {
        let mut texts = Vec::new();
        for (subject, checked) in self.checked_subjects(plan)? {
            texts.extend(checked.into_iter().filter_map(|checked| match checked {
                Checked::Possible { permanent, .. } => Some((subject, permanent?)),
                Checked::Impossible(_) => None,
            }));
        }
        if texts.is_empty() {
            return Ok(());
        }
        let run = lab_store::load(file)?;
        let points: Vec<_> = plan.points.ids().collect();
        let (results, over) = (lab_stats::results::results(&run), Over::all(&points));
        let mut rankings = results.rankings.iter();
        let ranking =
            rankings.find(|ranking| ranking.over == over && ranking.metric == *plan.main_metric());
        let is_compared = |subject| plan.compared().any(|compared| compared == subject);
        // If there is no ranking, no subjects were compared.
        let Some(ranking) = ranking else {
            return Ok(());
        };
        let first = ranking.first(is_compared);
        let [winner] = first.as_slice() else {
            say!(
                "\nNo setting is clearly ahead of all others, so there is nothing to make permanent."
            );
            return Ok(());
        };
        say!("\n{} is ahead of all others.", plan.subjects[*winner].name);
        for (_, text) in texts.iter().filter(|(subject, _)| subject == winner) {
            for line in text.lines() {
                say!("{}", clean(line));
            }
        }
        Ok(())
    }

    /// Returns the first subject whose fixture states are already set on this machine.
    fn current_subject(self, plan: &Plan) -> Result<Option<String>, Exit> {
        let is_current = |checked: &Checked| {
            matches!(
                checked,
                Checked::Possible {
                    is_current: true,
                    ..
                }
            )
        };
        let checked = self.checked_subjects(plan)?.into_iter();
        let mut current = checked.filter(|(_, checked)| checked.iter().all(is_current));
        let subject = current.find_map(|(subject, _)| plan.subjects.get(subject));
        Ok(subject.map(|subject| subject.name.clone()))
    }

    /// Checks the fixture states of each subject that has any, and returns the results.
    fn checked_subjects(self, plan: &Plan) -> Result<Vec<(SubjectId, Vec<Checked>)>, Exit> {
        let mut all: Vec<(SubjectId, Vec<Checked>)> = Vec::new();
        for fixture in plan.fixtures.iter().filter(|f| f.is_by_subject()) {
            let subjects = plan.subjects.ids();
            let selected = subjects.filter_map(|subject| {
                let place = FixtureDirectory::new(plan.subjects[subject].place.as_deref());
                Some((subject, plan.state_of_subject(fixture, subject)?, place))
            });
            let selected: Vec<_> = selected.collect();
            let states = selected.iter().map(|(_, state, place)| (*state, place));
            let checked = self.check(fixture, states)?;
            for ((subject, ..), checked) in selected.iter().zip(checked) {
                match all.iter_mut().find(|(other, _)| other == subject) {
                    Some((_, states)) => states.push(checked),
                    None => all.push((*subject, vec![checked])),
                }
            }
        }
        Ok(all)
    }

    /// Excludes the values of a factor whose fixture state this machine does not support.
    fn exclude_unsupported_points(
        self,
        selection: &mut Selection,
        plan: &Plan,
        fixture: &Fixture,
    ) -> Result<(), Exit> {
        let Some(Selector::Factor(factor)) = &fixture.selector else {
            return Ok(());
        };
        let states = states(plan, fixture);
        let place = FixtureDirectory::default();
        let checked = self.check(fixture, states.iter().map(|state| (*state, &place)))?;
        let requested = selection.set.iter().find(|(key, _)| key == factor);
        for (state, checked) in states.iter().zip(checked) {
            let Checked::Impossible(reason) = checked else {
                continue;
            };
            let name = &state.name;
            if requested.is_some_and(|(_, values)| values.contains(name)) {
                return Err(Exit::invalid(format!("--set {factor}={name}: {reason}")));
            }
            eprintln!("benchlab: excluded {factor}={name}: {}", clean(&reason));
            selection.absent.push((factor.clone(), name.clone()));
        }
        Ok(())
    }

    fn check<'s>(
        self,
        fixture: &Fixture,
        states: impl IntoIterator<Item = (&'s FixtureState, &'s FixtureDirectory)>,
    ) -> Result<Vec<Checked>, Exit> {
        let checked = check_states(fixture, self.project.folder(), states);
        checked.map_err(|fault| match fault {
            Fault::Failed(_, message) | Fault::ServerLost(message) => Exit::failed(message),
            Fault::Interrupted => Exit::interrupted("stopped before anything was measured"),
        })
    }
}
