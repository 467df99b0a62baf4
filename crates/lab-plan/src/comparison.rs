// SPDX-License-Identifier: Apache-2.0
//! Builds the plan that compares commands given on the command line.

use crate::error::PlanError;
use crate::name;
use crate::program_name::program_name;
use crate::shell;
use lab_model::{
    Case, CaseId, Command, Commands, IdVec, Measure, Plan, Point, Subject, SubjectId, Work,
};
use std::path::PathBuf;

/// A comparison of commands, as requested by the user.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The name. `None` selects the name of the first command's program. For a script, this is the
    /// name of the script rather than of its interpreter.
    pub name: Option<String>,
    /// The commands, in order.
    pub commands: Vec<GivenCommand>,
    /// The name of the baseline. `None` selects the first command.
    pub baseline: Option<String>,
    /// Parameters and their values.
    ///
    /// A non-numeric value creates a separate subject. The first parameter with numeric values is
    /// the sweep: each command is measured at every value.
    pub sweeps: Vec<(String, Vec<String>)>,
    /// Commands to run once before the first process: none, one for all commands, or one per command.
    pub setup: Vec<String>,
    /// Commands to run before each process: none, one for all commands, or one per command.
    pub prepare: Vec<String>,
    /// Commands to run once after the last process: none, one for all commands, or one per command.
    pub cleanup: Vec<String>,
    /// True to measure a second copy of the baseline.
    pub control: bool,
    /// The settings for running the commands.
    pub how: Commands,
    /// The measurement settings.
    pub measure: Measure,
    /// The seed that determines the order in which the commands take turns.
    pub seed: u64,
}

/// A command of a comparison.
#[derive(Clone, Debug)]
pub struct GivenCommand {
    /// The command as the user gave it: a line for a shell, or a program with its arguments.
    pub words: CommandWords,
    /// The name of the subject. `None` means a default name, such as `A`.
    pub name: Option<String>,
    /// The absolute path of the working directory.
    pub folder: PathBuf,
    /// The commit that is checked out in the directory, for comparisons of revisions.
    pub revision: Option<String>,
    /// The directories of all builds, starting with `folder`. Empty if there is only one build.
    pub builds: Vec<PathBuf>,
}

/// The form in which a command was given.
#[derive(Clone, Debug)]
pub enum CommandWords {
    /// A line for a shell.
    Line(String),
    /// Program and arguments.
    List(Vec<String>),
}

type Values = Vec<(String, String)>;

impl Comparison {
    /// Builds the plan.
    ///
    /// # Errors
    /// Returns an error if a command line, name or sweep is invalid.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.check_sweeps()?;
        let mut subjects: IdVec<SubjectId, Subject> = self.subjects()?.into();
        let baseline = self.baseline(&subjects)?;
        let title = title(&subjects);
        let points = self.points();
        let sweep = self.numeric().next().map(|(name, _)| name.clone());
        let name = match &self.name {
            Some(name) => name::checked(name)?,
            None => of_program(&subjects[SubjectId(0)]),
        };
        if self.control {
            subjects.push(Subject {
                name: format!("{}-control", subjects[baseline].name),
                control_of: Some(baseline),
                ..subjects[baseline].clone()
            });
        }
        subjects.extend(overheads(&subjects));
        Ok(Plan {
            experiment: name,
            title,
            question: "How long does each command take?".into(),
            subjects,
            baseline,
            cases: [Case {
                name: "run".into(),
                work: "one process, from its start to its end".into(),
                unit: "process".into(),
                sweep,
                ..Case::default()
            }]
            .into(),
            points: points.into(),
            measure: self.measure.clone(),
            seed: self.seed,
            work: Work::Commands(self.how.clone()),
            ..Plan::default()
        })
    }

    fn numeric(&self) -> impl Iterator<Item = &(String, Vec<String>)> {
        self.sweeps.iter().filter(|(_, values)| numbers(values))
    }

    fn check_sweeps(&self) -> Result<(), PlanError> {
        for (i, (name, values)) in self.sweeps.iter().enumerate() {
            let wrong =
                |reason: String| Err(PlanError::of_request(format!("--sweep {name}: {reason}")));
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(word) {
                return wrong("expected a name of letters, digits, `_` and `-`".into());
            }
            if self.sweeps[..i].iter().any(|(other, _)| other == name) {
                return wrong("the parameter is given twice".into());
            }
            let mut sorted = values.clone();
            sorted.sort();
            if sorted.windows(2).any(|two| two[0] == two[1]) {
                return wrong("a value is given twice".into());
            }
            if !self.mentions(name) {
                return wrong(format!("no command contains {{{name}}}"));
            }
        }
        Ok(())
    }

    fn mentions(&self, parameter: &str) -> bool {
        let placeholder = format!("{{{parameter}}}");
        let in_command = |command: &GivenCommand| match &command.words {
            CommandWords::Line(line) => line.contains(&placeholder),
            CommandWords::List(words) => words.iter().any(|w| w.contains(&placeholder)),
        };
        self.commands.iter().any(in_command)
    }

    /// Creates a subject for each command and each combination of the non-numeric parameters.
    fn subjects(&self) -> Result<Vec<Subject>, PlanError> {
        let words: Vec<&(String, Vec<String>)> = self
            .sweeps
            .iter()
            .filter(|(_, values)| !numbers(values))
            .collect();
        let choices = choices(&words);
        let count = self.commands.len() * choices.len();
        let mut subjects = Vec::new();
        for (i, command) in self.commands.iter().enumerate() {
            for choice in &choices {
                let letter = name_of(subjects.len(), count);
                let values: Vec<&str> = choice.iter().map(|(_, v)| v.as_str()).collect();
                let name = match (&command.name, values.is_empty()) {
                    (Some(name), true) => name.clone(),
                    (Some(name), false) => format!("{name} {}", values.join(" ")),
                    (None, false) if self.commands.len() == 1 => values.join(" "),
                    _ => letter,
                };
                subjects.push(self.subject(i, name, choice)?);
            }
        }
        let mut names: Vec<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
        names.sort();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(PlanError::of_request(format!(
                "two commands are named `{}`; specify other names with --name",
                two[0]
            ))),
            None => Ok(subjects),
        }
    }

    fn subject(&self, i: usize, name: String, choice: &Values) -> Result<Subject, PlanError> {
        let command = &self.commands[i];
        let parameters: Vec<&str> = self.numeric().map(|(name, _)| name.as_str()).collect();
        let (program, shell, line) = match &command.words {
            CommandWords::Line(line) => {
                let line = filled(line, choice);
                let (program, shell) = self.words(&line, &parameters)?;
                (program, shell, line)
            }
            CommandWords::List(words) => {
                let words: Vec<String> = words.iter().map(|w| filled(w, choice)).collect();
                let quoted = shlex::try_join(words.iter().map(String::as_str));
                let line = quoted.map_err(|e| PlanError::of_request(e.to_string()))?;
                (words, false, line)
            }
        };
        let hook = |lines: &[String], option: &str| {
            let line = match lines {
                [] => return Ok(None),
                [line] => line,
                lines if lines.len() == self.commands.len() => &lines[i],
                lines => {
                    return Err(PlanError::of_request(format!(
                        "--{option} is given {} times for {} command{}: pass it once, or once for each command",
                        lines.len(),
                        self.commands.len(),
                        if self.commands.len() == 1 { "" } else { "s" }
                    )));
                }
            };
            self.words(&filled(line, choice), &parameters)
                .map(|(program, _)| Some(program))
        };
        Ok(Subject {
            name,
            program,
            command: Some(Command {
                line,
                shell,
                folder: Some(command.folder.display().to_string()),
                revision: command.revision.clone(),
                builds: command
                    .builds
                    .iter()
                    .map(|b| b.display().to_string())
                    .collect(),
                setup: hook(&self.setup, "setup")?,
                prepare: hook(&self.prepare, "prepare")?,
                cleanup: hook(&self.cleanup, "cleanup")?,
            }),
            ..Subject::default()
        })
    }

    fn words(&self, line: &str, parameters: &[&str]) -> Result<(Vec<String>, bool), PlanError> {
        shell::program(line, parameters)
            .map_err(|reason| PlanError::of_request(format!("invalid command `{line}`: {reason}")))
    }

    fn baseline(&self, subjects: &IdVec<SubjectId, Subject>) -> Result<SubjectId, PlanError> {
        let Some(name) = &self.baseline else {
            return Ok(SubjectId(0));
        };
        let found = subjects.find_id(|s| s.name == *name);
        found.ok_or_else(|| {
            PlanError::of_request(format!("--baseline {name}: no command has that name"))
                .with_nearest(name, subjects.iter().map(|s| s.name.as_str()))
        })
    }

    fn points(&self) -> Vec<Point> {
        let numeric: Vec<_> = self.numeric().collect();
        let point = |params: Values| Point {
            case: CaseId(0),
            x: params.first().and_then(|(_, value)| value.parse().ok()),
            params,
            ..Point::default()
        };
        choices(&numeric).into_iter().map(point).collect()
    }
}

/// Replaces parameters in braces with their values.
pub fn filled(text: &str, values: &[(String, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

fn numbers(values: &[String]) -> bool {
    let number = |v: &String| v.parse::<f64>().is_ok_and(f64::is_finite);
    values.iter().all(number)
}

/// Returns all combinations with one value for each parameter. The last parameter changes fastest.
fn choices(parameters: &[&(String, Vec<String>)]) -> Vec<Values> {
    parameters
        .iter()
        .fold(vec![Vec::new()], |choices, (name, values)| {
            let longer = |choice: &Values| {
                let with = |value: &String| {
                    let mut choice = choice.clone();
                    choice.push((name.clone(), value.clone()));
                    choice
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            choices.iter().flat_map(longer).collect()
        })
}

/// Returns the default name of a command: a letter, or a number if there are more than 26 commands.
fn name_of(i: usize, of: usize) -> String {
    match (i, of) {
        (0..26, ..=26) => char::from(b'A' + i as u8).to_string(),
        _ => (i + 1).to_string(),
    }
}

fn title(subjects: &[Subject]) -> String {
    let line = |s: &Subject| s.command.as_ref().map_or("", |c| &c.line).to_owned();
    let same = subjects.iter().all(|s| line(s) == line(&subjects[0]));
    match subjects {
        [one] => line(one),
        several if same => {
            let names: Vec<&str> = several.iter().map(|s| s.name.as_str()).collect();
            format!("{}: {}", line(&several[0]), names.join(" against "))
        }
        [one, other] => format!("{} against {}", line(one), line(other)),
        several => format!("{} against {} others", line(&several[0]), several.len() - 1),
    }
}

/// Returns the subjects that measure the overhead of starting a process and, if any command needs a
/// shell, of starting a shell.
fn overheads(subjects: &[Subject]) -> Vec<Subject> {
    let overhead = |name: &str, program: &[&str]| Subject {
        name: name.into(),
        program: program.iter().map(|w| w.to_string()).collect(),
        command: Some(Command {
            line: program.join(" "),
            folder: subjects[0].command.as_ref().and_then(|c| c.folder.clone()),
            ..Command::default()
        }),
        overhead: true,
        ..Subject::default()
    };
    let mut overheads = vec![overhead("process start", &["true"])];
    let shell = |s: &Subject| s.command.as_ref().is_some_and(|c| c.shell);
    if subjects.iter().any(shell) {
        overheads.push(overhead("shell start", &["sh", "-c", ":"]));
    }
    overheads
}

fn of_program(subject: &Subject) -> String {
    let line = subject.command.as_ref().map_or("", |c| c.line.as_str());
    name::made_of(&program_name(line), "commands")
}
