// SPDX-License-Identifier: Apache-2.0
//! `audit site`: audits a page, the files that it loads, and its server. It sends only GET and HEAD requests, and only
//! to hosts that the user named.

mod address;
pub mod client;
mod har;
mod old_tls;
mod page;
mod resource;
mod served;
mod server;
pub mod tls;
mod visit;

pub use address::redact;
pub use har::of_har;
pub use page::references;
pub use url::Url;
pub use visit::{CLASSES, Site, SiteOptions, audit, cookies, inspect, load, rules};
