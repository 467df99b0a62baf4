// SPDX-License-Identifier: Apache-2.0
//! All tests are in one binary, because each additional binary would compile and link the whole
//! library again.

mod histograms;
mod load_runs;
mod run_file;
