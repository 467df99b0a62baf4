// SPDX-License-Identifier: Apache-2.0
//! One test program for all tests, because each additional program would be compiled and linked
//! with the whole library.

mod ages;
mod behavior;
mod best;
mod between;
mod bias;
mod bisection;
mod builds;
mod deciding;
mod documents;
mod hosts;
mod lines;
mod load;
mod means;
mod observed;
mod power;
mod process_sets;
mod properties;
mod redoing;
mod reference;
mod results;
mod run_wide;
mod served;
mod shifts;
mod simulated;
mod simulator;
mod tables;
mod tails;
mod targets;
mod turn_levels;
mod two_loads;
mod two_runs;
