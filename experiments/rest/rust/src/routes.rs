// SPDX-License-Identifier: Apache-2.0
//! The routes that `experiments/rest/README.md` requires.

use crate::order::Order;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Path, Query};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tower_http::services::ServeDir;

const ECHO_MAX: usize = 64 << 10;
const NAME_MAX: usize = 32;
const NUMBER_MAX: u32 = 999_999;

/// Returns the routes, which include the static files in the directory `files`.
pub fn routes(files: &std::path::Path) -> Router {
    let echo = post(echo).layer(DefaultBodyLimit::max(ECHO_MAX));
    Router::new()
        .route("/api", get(constant))
        .route("/api/built", get(built))
        .route("/api/hello/{name}", get(hello))
        .route("/api/echo", echo)
        .nest_service("/files", ServeDir::new(files))
}

async fn constant() -> impl IntoResponse {
    let json = [(CONTENT_TYPE, "application/json")];
    (json, r#"{"greeting":"Hello World!"}"#)
}

#[derive(Deserialize)]
struct Built {
    number: u32,
}

#[derive(Serialize)]
struct Numbered {
    greeting: &'static str,
    number: u32,
}

async fn built(Query(Built { number }): Query<Built>) -> Result<Json<Numbered>, StatusCode> {
    if number > NUMBER_MAX {
        return Err(StatusCode::BAD_REQUEST);
    }
    let greeting = "Hello World!";
    Ok(Json(Numbered { greeting, number }))
}

#[derive(Serialize)]
struct Greeting {
    greeting: String,
}

async fn hello(Path(name): Path<String>) -> Result<Json<Greeting>, StatusCode> {
    if !is_name(&name) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let greeting = format!("Hello {name}!");
    Ok(Json(Greeting { greeting }))
}

fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b" .'\"-".contains(&b))
}

/// Echoes an order. The status for JSON that is not an order is the same as for invalid JSON,
/// because serde distinguishes the two only if it has read the text to its end.
async fn echo(order: Result<Json<Order>, JsonRejection>) -> Result<Json<Order>, StatusCode> {
    order.map_err(|rejection| match rejection {
        JsonRejection::JsonDataError(_) => StatusCode::BAD_REQUEST,
        other => other.status(),
    })
}
