// SPDX-License-Identifier: Apache-2.0
//! Profiles in a run file. A run file stores the output of each tool, from which reports are
//! computed, and facts that the output lacks.

use crate::layouts::EventRanges;
use crate::profile::Profile;
use crate::runs::{RunWarning, add_output};
use crate::valgrind::{Tool, ValgrindRun};
use crate::{Sources, wording};
use flate2::Compression;
use flate2::bufread::GzEncoder;
use flate2::read::GzDecoder;
use lab_model::{StoredProfile, ToolOutput};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read};

/// The maximum size in bytes of a tool's output.
const MAX_OUTPUT: u64 = 4 << 30;

/// Profiled programs with everything that their report needs.
#[derive(Debug, Default)]
pub struct ProfiledPrograms {
    /// The names of the programs.
    pub names: Vec<String>,
    /// The profile of each program.
    pub profiles: Vec<Profile>,
    /// The source lines of each program.
    pub sources: Vec<Sources>,
    /// Facts about how the profiles were produced.
    pub facts: Vec<(String, String)>,
    /// Caveats, such as failed runs, or programs that did different work.
    pub caveats: Vec<Caveat>,
    /// The ranges of each program's events over builds. Empty with one build.
    pub ranges: Vec<EventRanges>,
}

/// A caveat of a profile, as a sentence with a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// The topic, in a few words.
    pub label: String,
    /// The caveat as a complete sentence.
    pub text: String,
}

impl From<&RunWarning> for Caveat {
    fn from(warning: &RunWarning) -> Caveat {
        Caveat {
            label: warning.label().into(),
            text: warning.to_string(),
        }
    }
}

/// The facts that the output of the tools lacks.
#[derive(Serialize, Deserialize)]
struct Notes {
    names: Vec<String>,
    sources: Vec<Sources>,
    facts: Vec<(String, String)>,
    caveats: Vec<Caveat>,
    #[serde(default)]
    ranges: Vec<EventRanges>,
    /// For each program, the IDs of the tools whose results cover only a part of it.
    #[serde(default, rename = "stopped")]
    partial: Vec<Vec<String>>,
}

/// Returns the content of a run file for profiled programs, with the output files of `runs`.
///
/// # Errors
/// Returns an error if an output file cannot be read.
pub fn to_stored_profile(
    programs: &ProfiledPrograms,
    runs: &[ValgrindRun],
) -> io::Result<StoredProfile> {
    let notes = Notes {
        names: programs.names.clone(),
        sources: programs.sources.clone(),
        facts: programs.facts.clone(),
        caveats: programs.caveats.clone(),
        ranges: programs.ranges.clone(),
        partial: programs.profiles.iter().map(partial_ids).collect(),
    };
    let outputs = runs.iter().filter_map(|run| {
        let file = run.file.as_ref()?;
        Some(File::open(file).and_then(|file| {
            let mut gzip = Vec::new();
            GzEncoder::new(BufReader::new(file), Compression::fast()).read_to_end(&mut gzip)?;
            Ok(ToolOutput {
                program: run.command as u32,
                tool: run.tool.id().into(),
                gzip,
            })
        }))
    });
    Ok(StoredProfile {
        notes: serde_json::to_string(&notes)?,
        outputs: outputs.collect::<io::Result<_>>()?,
    })
}

fn partial_ids(profile: &Profile) -> Vec<String> {
    profile
        .partial
        .iter()
        .map(|tool| tool.id().to_owned())
        .collect()
}

impl ProfiledPrograms {
    /// Reads the profiles in a run file.
    ///
    /// Skips output that a tool left incomplete. benchlab also skipped this output when it profiled
    /// the program. The notes contain a caveat about the incomplete output.
    ///
    /// # Errors
    /// Returns the reason if the notes cannot be read, or if they do not match the output.
    pub fn read(kept: &StoredProfile) -> Result<ProfiledPrograms, String> {
        let Notes {
            names,
            sources,
            facts,
            caveats,
            ranges,
            partial,
        } = serde_json::from_str(&kept.notes).map_err(|e| e.to_string())?;
        let mut profiles = vec![Profile::default(); names.len()];
        for (profile, ids) in profiles.iter_mut().zip(&partial) {
            let is_partial = |tool: &Tool| ids.iter().any(|id| id == tool.id());
            profile.partial = Tool::ALL.into_iter().filter(is_partial).collect();
        }
        for output in &kept.outputs {
            let profile = profiles.get_mut(output.program as usize);
            let profile = profile.ok_or(wording::UNKNOWN_PROGRAM)?;
            let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.id() == output.tool) else {
                continue;
            };
            let bytes = GzDecoder::new(output.gzip.as_slice()).take(MAX_OUTPUT);
            let _ = add_output(profile, tool, BufReader::new(bytes));
        }
        Ok(ProfiledPrograms {
            names,
            profiles,
            sources,
            facts,
            caveats,
            ranges,
        })
    }
}
