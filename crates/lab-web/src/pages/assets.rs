// SPDX-License-Identifier: Apache-2.0
//! Assets of the pages: a style sheet, a script and an icon, all part of this program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use lab_document::format::html;

/// A report's own style, and what the pages around it add.
pub async fn style() -> Response {
    let style = html::style_sheet() + include_str!("../page.css");
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response()
}

/// The script.
pub async fn script() -> Response {
    let script = include_str!("../page.js");
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], script).into_response()
}

/// The icon in a browser's tab.
pub async fn icon() -> Response {
    let icon = include_str!("../icon.svg");
    ([(CONTENT_TYPE, "image/svg+xml")], icon).into_response()
}
