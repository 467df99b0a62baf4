// SPDX-License-Identifier: Apache-2.0
//! A single test binary, because each additional one would compile and link the whole library again.

mod histograms;
mod load_runs;
mod run_file;
