// SPDX-License-Identifier: Apache-2.0
//! The document for `/api/echo`.

use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub struct Order {
    id: i64,
    customer: Customer,
    express: bool,
    note: Option<String>,
    remark: String,
    discount: f64,
    items: Vec<Item>,
}

#[derive(Deserialize, Serialize)]
struct Customer {
    name: String,
    city: String,
    since: i32,
}

#[derive(Deserialize, Serialize)]
struct Item {
    sku: String,
    name: String,
    quantity: i32,
    price: f64,
    tags: Vec<String>,
}
