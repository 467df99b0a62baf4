// SPDX-License-Identifier: Apache-2.0
//! The requests to a server and the expected responses, in a form that can be sent to another machine.

use crate::error::JobError;
use crate::expect::Expect;
use crate::guard::LoadGuard;
use crate::requests::{Header, Request, Requests, method};
use crate::target::{IpFamily, LoadUrl, Origin};
use crate::tls::{Tls, Trust};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lab_model::Protocol;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The requests to a server and the expected responses. It may hold secrets, and is stored nowhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerRequests {
    /// At least one; all of the same server.
    pub requests: Vec<Request>,
    /// A connection serves one request after the other.
    pub keep_alive: bool,
    /// The seed of the order of the requests.
    pub seed: u64,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// The family of addresses to connect to; `None`: any.
    pub family: Option<IpFamily>,
    /// The certificates to accept.
    pub trust: Trust,
    /// The expected response.
    pub expect: Expect,
    /// A host that may be loaded wherever it is.
    pub i_may_load: Option<String>,
}

impl ServerRequests {
    /// The server's scheme, host and port. Error: there is no request, or they are of several servers.
    pub fn origin(&self) -> Result<Origin, JobError> {
        Origin::shared(self.requests.iter().map(|request| &request.link))
    }

    /// The requests as they are sent. Errors: see [`Requests::new`].
    pub fn rendered(&self) -> Result<Requests, JobError> {
        Requests::new(&self.requests, self.keep_alive, self.seed)
    }

    /// The TLS configuration, if TLS is spoken. Errors: see [`Tls::new`].
    pub fn tls(&self) -> Result<Option<Tls>, JobError> {
        let origin = self.origin()?;
        let tls = origin
            .uses_tls()
            .then(|| Tls::new(&origin, self.protocol, &self.trust));
        tls.transpose()
    }

    /// Where the server is, seen from this machine. Errors: see [`Origin::address`].
    pub fn address(&self) -> Result<SocketAddr, JobError> {
        let guard = LoadGuard::new(self.i_may_load.as_deref())?;
        self.origin()?.address(self.family, &guard)
    }

    /// The same with the contents of files in place of their names on this machine. Error: one cannot be read.
    pub fn without_files(self) -> Result<ServerRequests, JobError> {
        Ok(ServerRequests {
            trust: self.trust.without_file()?,
            ..self
        })
    }
}

/// A request in words and numbers alone.
#[derive(Serialize, Deserialize)]
struct RequestText {
    url: String,
    authorization: Option<String>,
    method: String,
    /// `Name: value`.
    headers: Vec<String>,
    /// Base64.
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
    use crate::expect::{JsonValue, Statuses};

    #[test]
    fn what_another_machine_is_told_is_sent_as_it_would_be_here() {
        let mut request = Request {
            method: method("PATCH").unwrap(),
            body: vec![0, 255, b'x'].into(),
            weight: 3,
            ..Request::new(LoadUrl::parse("http://me:se%63ret@127.0.0.1:8080/a?b=c").unwrap())
        };
        request.add_common(&[Header::parse("x-Trace:  grün ").unwrap()]);
        let other = Request::new(LoadUrl::parse("http://127.0.0.1:8080/").unwrap());
        let original = ServerRequests {
            requests: vec![request, other],
            keep_alive: true,
            seed: 7,
            protocol: Protocol::Http1,
            family: Some(IpFamily::V4),
            trust: Trust::System,
            expect: Expect::new(
                Statuses::parse("200,4xx").unwrap(),
                Some(b"{}".to_vec()),
                vec![JsonValue::parse("a.0=1").unwrap()],
            ),
            i_may_load: None,
        };
        let text = serde_json::to_string(&original).unwrap();
        let received: ServerRequests = serde_json::from_str(&text).unwrap();
        let (rendered, rendered_there) =
            (original.rendered().unwrap(), received.rendered().unwrap());
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
        assert_eq!(original.expect.words(), received.expect.words());
        assert_eq!(original.address().unwrap(), received.address().unwrap());
    }

    #[test]
    fn what_was_tampered_with_is_refused() {
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
