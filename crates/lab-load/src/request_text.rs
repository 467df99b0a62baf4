// SPDX-License-Identifier: Apache-2.0
//! Serializes requests for generators on other machines. Requests may contain secrets, so they are
//! never stored.

use crate::error::JobError;
use crate::requests::{Header, Request, method};
use crate::target::LoadUrl;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

/// The serialized form of a request.
#[derive(Serialize, Deserialize)]
struct RequestText {
    url: String,
    authorization: Option<String>,
    method: String,
    /// Lines such as `Name: value`.
    headers: Vec<String>,
    /// The body, encoded in Base64.
    body: String,
    weight: u32,
}

impl From<Request> for RequestText {
    fn from(request: Request) -> RequestText {
        RequestText {
            url: request.link.to_string(),
            authorization: request.link.authorization,
            method: request.method.to_string(),
            headers: request.headers.iter().map(Header::line).collect(),
            body: BASE64.encode(&request.body),
            weight: request.weight,
        }
    }
}

impl TryFrom<RequestText> for Request {
    type Error = JobError;

    fn try_from(words: RequestText) -> Result<Request, JobError> {
        let body = BASE64.decode(&words.body);
        let body = body.map_err(|e| JobError::new(format!("a request's body: {e}")))?;
        let headers = words.headers.iter().map(|line| Header::parse(line));
        Ok(Request {
            link: LoadUrl {
                authorization: words.authorization,
                ..LoadUrl::parse(&words.url)?
            },
            method: method(&words.method)?,
            headers: headers.collect::<Result<_, _>>()?,
            body: body.into(),
            weight: words.weight,
        })
    }
}

impl Serialize for Request {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RequestText::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Request, D::Error> {
        let words = RequestText::deserialize(deserializer)?;
        Request::try_from(words).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Requests;

    #[test]
    fn a_request_survives_serialization() {
        let mut request = Request {
            method: method("PATCH").unwrap(),
            body: vec![0, 255, b'x'].into(),
            weight: 3,
            ..Request::new(LoadUrl::parse("http://me:se%63ret@127.0.0.1:8080/a?b=c").unwrap())
        };
        request.add_common(&[Header::parse("x-Trace:  grün ").unwrap()]);
        let other = Request::new(LoadUrl::parse("http://127.0.0.1:8080/").unwrap());
        let original = vec![request, other];
        let text = serde_json::to_string(&original).unwrap();
        let received: Vec<Request> = serde_json::from_str(&text).unwrap();
        let rendered = |list: &[Request]| Requests::new(list, true, 7).unwrap();
        let (rendered, rendered_there) = (rendered(&original), rendered(&received));
        assert_eq!(rendered.period(), rendered_there.period());
        for position in 0..rendered.period() {
            assert_eq!(
                rendered.get(position).bytes,
                rendered_there.get(position).bytes
            );
        }
        let sent = String::from_utf8_lossy(&rendered.get(0).bytes).into_owned()
            + &String::from_utf8_lossy(&rendered.get(1).bytes);
        assert!(sent.contains("Authorization: Basic bWU6c2VjcmV0"), "{sent}");
        assert!(sent.contains("x-Trace: grün\r\n"), "{sent}");
    }

    #[test]
    fn invalid_requests_are_rejected() {
        for wrong in [
            r#"{"url":"ftp://x/","authorization":null,"method":"GET","headers":[],"body":"","weight":1}"#,
            r#"{"url":"http://x/","authorization":null,"method":"G T","headers":[],"body":"","weight":1}"#,
            r#"{"url":"http://x/","authorization":null,"method":"GET","headers":["a: b\r\nc: d"],"body":"","weight":1}"#,
            r#"{"url":"http://x/","authorization":null,"method":"GET","headers":[],"body":"%","weight":1}"#,
        ] {
            assert!(serde_json::from_str::<Request>(wrong).is_err(), "{wrong}");
        }
    }
}
