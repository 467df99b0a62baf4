// SPDX-License-Identifier: Apache-2.0
//! The way in which the page of a HAR was recognized.

/// The way in which the page was recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChoice {
    /// The browser recorded the entry as a document.
    Document,
    /// The first HTML response.
    Html,
    /// The first response. No response is HTML.
    First,
}
