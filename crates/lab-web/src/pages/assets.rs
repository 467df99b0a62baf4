// SPDX-License-Identifier: Apache-2.0
//! Serves the assets of the pages: a style sheet, a script and an icon. All of them are compiled
//! into the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use lab_document::format::html;

/// Serves the style sheet. It contains the style of reports, and additions for the rest of the
/// pages.
pub async fn style() -> Response {
    let style = html::style_sheet() + include_str!("../page.css");
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response()
}

/// Serves the script.
pub async fn script() -> Response {
    let script = include_str!("../page.js");
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], script).into_response()
}

/// Serves the icon for the browser tab.
pub async fn icon() -> Response {
    let icon = include_str!("../icon.svg");
    ([(CONTENT_TYPE, "image/svg+xml")], icon).into_response()
}
