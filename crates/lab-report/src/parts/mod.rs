// SPDX-License-Identifier: Apache-2.0
//! Parts that the documents of all kinds of measured work share.

pub mod agents;
pub mod bias;
pub mod cell;
pub mod charts;
pub mod conditions;
pub mod costs;
pub mod errors;
pub mod findings;
pub mod gates;
pub mod hosts;
pub mod kind_traits;
pub mod load_sent;
pub mod measured;
pub mod method;
pub mod respect;
pub mod rows;
pub mod scaling;
pub mod scope;
pub mod sentence;
pub mod shift;
pub mod slices;
pub mod standings;
pub mod table;
pub mod trouble;
