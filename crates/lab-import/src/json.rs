// SPDX-License-Identifier: Apache-2.0
//! Typed access to a JSON document, with the path in every error.

use crate::error::Problem;
use crate::limits::Limits;
use serde_json::Value;

/// A value with its path.
#[derive(Clone)]
pub struct Node<'v> {
    value: &'v Value,
    path: String,
}

impl<'v> Node<'v> {
    /// Creates the root of a document.
    pub fn root(value: &'v Value) -> Node<'v> {
        Node {
            value,
            path: String::new(),
        }
    }

    /// Returns the JSON value at this position in the document.
    pub fn value(&self) -> &'v Value {
        self.value
    }

    /// Creates a problem at this value.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        let location = if self.path.is_empty() {
            "the top level"
        } else {
            &self.path
        };
        Problem::with_location(location, message)
    }

    /// Returns the member named `key`, or `None` if it is missing or null.
    pub fn find(&self, key: &str) -> Option<Node<'v>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node {
            value,
            path: self.path_of(key),
        })
    }

    /// Returns the member named `key`, or an error if it is missing or null.
    pub fn get(&self, key: &str) -> Result<Node<'v>, Problem> {
        self.find(key)
            .ok_or_else(|| self.problem(format!("`{key}` is missing")))
    }

    /// Returns the elements of an array, or an error for any other value.
    pub fn items(&self) -> Result<Vec<Node<'v>>, Problem> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.expected("a list"))?;
        let node = |(i, value)| Node {
            value,
            path: format!("{}[{i}]", self.path),
        };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// Returns the members of an object, or an error for any other value.
    pub fn members(&self) -> Result<Vec<(&'v str, Node<'v>)>, Problem> {
        let members = self
            .value
            .as_object()
            .ok_or_else(|| self.expected("an object"))?;
        let node = |(key, value): (&'v String, &'v Value)| {
            let path = self.path_of(key);
            (key.as_str(), Node { value, path })
        };
        Ok(members.iter().map(node).collect())
    }

    /// Returns a text, or an error for any other value.
    pub fn text(&self) -> Result<&'v str, Problem> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// Returns a finite number, or an error for any other value.
    pub fn number(&self) -> Result<f64, Problem> {
        self.value
            .as_f64()
            .filter(|n| n.is_finite())
            .ok_or_else(|| self.expected("a number"))
    }

    /// Returns a finite number of at least 0, or an error for any other value.
    pub fn amount(&self) -> Result<f64, Problem> {
        let number = self.number()?;
        if number < 0.0 {
            return Err(self.problem(format!("{number} is negative; expected 0 or more")));
        }
        Ok(number)
    }

    /// Returns the numbers of an array, each of them at least 0, multiplied by `scale`.
    pub fn amounts(&self, scale: f64, limits: &Limits) -> Result<Vec<f64>, Problem> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.expected("a list"))?;
        if items.len() > limits.values {
            return Err(self.problem(format!(
                "there are {} values; the maximum is {}",
                items.len(),
                limits.values
            )));
        }
        let amount = |(i, value): (usize, &'v Value)| match value
            .as_f64()
            .filter(|n| n.is_finite() && *n >= 0.0)
        {
            Some(number) => Ok(number * scale),
            None => {
                let path = format!("{}[{i}]", self.path);
                Node { value, path }.amount()
            }
        };
        items.iter().enumerate().map(amount).collect()
    }

    /// Returns the number in the member named `key`, or `None` if there is no such member. Returns
    /// an error if the value is not a number of at least 0.
    pub fn find_amount(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.find(key).map(|node| node.amount()).transpose()
    }

    /// Returns the text in the member named `key`, if the member exists and is a text.
    pub fn find_text(&self, key: &str) -> Option<&'v str> {
        self.find(key)?.value.as_str()
    }

    /// Formats a scalar for use as a parameter or a fact.
    pub fn scalar(&self) -> String {
        match self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    fn expected(&self, what: &str) -> Problem {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(_) => "a text".into(),
            Value::Array(_) => "a list".into(),
            Value::Object(_) => "an object".into(),
        };
        self.problem(format!("expected {what}, found {found}"))
    }
}
