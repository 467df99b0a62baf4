// SPDX-License-Identifier: Apache-2.0
//! What can go wrong with a request, as a page that says what to do.

use crate::pages::page;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lab_store::StoreError;
use maud::html;

/// Why there is no page.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    why: String,
}

impl Problem {
    /// There is no such thing.
    pub fn missing(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, why)
    }

    /// The request cannot be understood.
    pub fn wrong(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, why)
    }

    /// It is not allowed.
    pub fn forbidden(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, why)
    }

    /// Something is measured or used now.
    pub fn busy(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, why)
    }

    /// The file or the disk is at fault.
    pub fn broken(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// With any other status.
    pub fn new(status: StatusCode, why: impl Into<String>) -> Problem {
        Problem {
            status,
            why: why.into(),
        }
    }

    /// What went wrong, in a sentence.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl From<StoreError> for Problem {
    fn from(e: StoreError) -> Problem {
        match e {
            StoreError::Missing(_) => Problem::missing(e.to_string()),
            StoreError::Busy(_) => Problem::busy(e.to_string()),
            _ => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, e.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let reason = self.status.canonical_reason().unwrap_or("Error");
        let content = html! {
            header { h1 { (reason) } }
            main {
                p role="alert" { (lab_report::clean(&self.why)) "." }
                p { a href="/" { "All runs" } }
            }
        };
        (self.status, page(reason, &html! {}, content)).into_response()
    }
}
