// SPDX-License-Identifier: Apache-2.0
//! The formats of other tools, one file each.

pub mod benchmark_dotnet;
pub mod criterion;
pub mod exchanged_xml;
pub mod go;
pub mod google_benchmark;
pub mod hdr_log;
pub mod hyperfine;
pub mod jmh;
pub mod junit;
pub mod k6;
pub mod oha;
pub mod pyperf;
pub mod pytest_benchmark;
pub mod vegeta;
pub mod wrk;

use crate::error::Problem;
use crate::source::Source;
use lab_model::Imported;
use std::fmt;

/// A format of another tool, defined in its own file.
#[derive(Clone, Copy)]
pub struct ImportFormat {
    /// The name on the command line, such as `hyperfine`.
    pub name: &'static str,
    /// The tool and the option that writes the file.
    pub title: &'static str,
    /// Advice on measuring in multiple processes, as a sentence. Empty if the tool always uses
    /// multiple processes.
    pub advice: &'static str,
    /// Returns true if a source is in this format. The source may still be damaged.
    pub(crate) is_format: fn(&Source) -> bool,
    /// Reads the results from a source, with everything in which their names may differ from those
    /// in other files, such as the package of a benchmark.
    pub(crate) read: fn(&Source) -> Result<Vec<Imported>, Problem>,
    /// Shortens the names of the results that [`read`](crate::read) or
    /// [`read_joined`](crate::read_joined) returns. This comes after all files have been joined,
    /// because a name that is unique in one file may also occur in another one.
    pub(crate) shorten: fn(&mut [Imported]),
}

impl PartialEq for ImportFormat {
    fn eq(&self, other: &ImportFormat) -> bool {
        self.name == other.name
    }
}

impl Eq for ImportFormat {}

impl fmt::Debug for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ImportFormat").field(&self.name).finish()
    }
}

/// The way to shorten names for formats whose results have no unnecessary parts in their names.
fn keep_names(_: &mut [Imported]) {}

/// All formats, in the order in which they are detected.
pub const FORMATS: [ImportFormat; 17] = [
    hyperfine::FORMAT,
    jmh::FORMAT,
    go::FORMAT,
    criterion::FORMAT,
    google_benchmark::FORMAT,
    pytest_benchmark::FORMAT,
    pyperf::FORMAT,
    benchmark_dotnet::FORMAT,
    k6::SUMMARY,
    k6::LINES,
    wrk::FORMAT,
    oha::FORMAT,
    vegeta::REPORT,
    vegeta::LINES,
    hdr_log::FORMAT,
    junit::FORMAT,
    exchanged_xml::FORMAT,
];
