// SPDX-License-Identifier: Apache-2.0
//! Errors of requests, which are rendered as pages with advice.

use crate::pages::page;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lab_store::StoreError;
use maud::html;

/// An error that prevents a page from being shown: its HTTP status, and its reason as text.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    reason: String,
}

impl Problem {
    /// Creates an error for a page or run that does not exist (status 404).
    pub fn missing(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, reason)
    }

    /// Creates an error for a malformed request (status 400).
    pub fn wrong(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, reason)
    }

    /// Creates an error for a request that is not allowed (status 403).
    pub fn forbidden(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, reason)
    }

    /// Creates an error for a run that is being measured or is in use (status 409).
    pub fn busy(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, reason)
    }

    /// Creates an error for a damaged file or a failed disk (status 500).
    pub fn broken(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, reason)
    }

    /// Creates an error with any status.
    pub fn new(status: StatusCode, reason: impl Into<String>) -> Problem {
        Problem {
            status,
            reason: reason.into(),
        }
    }

    /// Returns the reason in one sentence.
    pub fn reason(&self) -> &str {
        &self.reason
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
        let title = self.status.canonical_reason().unwrap_or("Error");
        let content = html! {
            header { h1 { (title) } }
            main {
                p role="alert" { (lab_document::clean(&self.reason)) "." }
                p { a href="/" { "All runs" } }
            }
        };
        (self.status, page(title, &html! {}, content)).into_response()
    }
}
