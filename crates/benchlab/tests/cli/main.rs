// SPDX-License-Identifier: Apache-2.0
//! End-to-end tests of the built program: commands, and their exit codes, messages and run files.

mod audit;
mod audit_names;
mod bad_input;
mod bisect;
mod builds;
mod calls;
mod ci_services;
#[path = "../../../lab-services/tests/services/closed_port.rs"]
mod closed_port;
mod compare;
mod completions;
mod config;
mod documented;
mod dry_run;
mod everyday;
mod explain;
mod faults;
mod fixtures;
mod folders;
mod full_disk;
mod history;
mod imports;
#[path = "../../../lab-audit/tests/audit/line.rs"]
mod line;
mod listings;
mod load;
mod logs;
mod logs_disk;
mod logs_parquet;
mod logs_rotated;
mod logs_servers;
mod many;
mod overview;
mod own_metrics;
mod own_sql;
mod planning;
mod profile;
mod progress;
mod project;
mod run_files;
mod same_work;
mod serve;
mod servers;
mod servers_faults;
mod skeletons;
mod stopping;
mod two_runs;
mod visits;
mod warm_ups;
mod web_paths;
mod web_servers;
