// SPDX-License-Identifier: Apache-2.0
//! Rebuilds the requests of a stored load from its specification, its files, and the secrets, which
//! the user provides again.

use crate::error::{JobError, quoted};
use crate::request_file::read_requests;
use crate::requests::{Header, Request, content_bytes, method, planned};
use crate::target::LoadUrl;
use bytes::Bytes;
use lab_model::{LoadSpec, PlannedBody, PlannedHeader, PlannedRequest, RequestsFile, plural};

/// The prefix of the environment variables for the values of headers.
const HEADER_VARIABLE: &str = "BENCHLAB_HEADER_";
/// The environment variable for the body.
const BODY_VARIABLE: &str = "BENCHLAB_BODY";
/// The environment variable for `NAME:PASSWORD`.
const USER_VARIABLE: &str = "BENCHLAB_USER";

/// The secrets of a stored load, which its run file does not contain.
pub struct Secrets<'a> {
    /// The headers with their values.
    pub headers: Vec<Header>,
    /// The body of every request.
    pub body: Option<Vec<u8>>,
    /// The users as `NAME:PASSWORD`. The list contains one user for all URLs with a user name, or
    /// one user for each of these URLs, in order.
    pub users: Vec<String>,
    /// A function that reads an environment variable. It is used for secrets that are not in the
    /// other fields.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// Rebuilds the requests to each server of a stored load.
///
/// # Errors
/// Returns an error if a secret is missing (the message says how to provide it), if a secret does
/// not belong to the load, or if a file or the body has changed.
pub fn restored_requests(
    load: &LoadSpec,
    secrets: &Secrets,
) -> Result<Vec<Vec<Request>>, JobError> {
    let mut restorer = Restorer {
        load,
        secrets,
        users: 0,
        missing: Vec::new(),
    };
    let headers = restorer.headers()?;
    let body = restorer.body()?;
    let mut servers = Vec::new();
    for planned_requests in &load.requests {
        if load.families.len() > 1 {
            // The list contains the same URLs once per address family, so the users are counted anew.
            restorer.users = 0;
        }
        let mut requests = match &load.requests_file {
            Some(file) => restorer.read_file(file, planned_requests)?,
            None => restorer.make_requests(planned_requests, &body)?,
        };
        requests.iter_mut().for_each(|r| r.add_common(&headers));
        servers.push(requests);
    }
    restorer.check_users()?;
    restorer.check_missing()?;
    Ok(servers)
}

struct Restorer<'a> {
    load: &'a LoadSpec,
    secrets: &'a Secrets<'a>,
    /// The number of URLs with a user name so far.
    users: usize,
    /// For each missing secret, the ways to provide it.
    missing: Vec<String>,
}

impl Restorer<'_> {
    /// Returns the headers that all requests share.
    fn headers(&mut self) -> Result<Vec<Header>, JobError> {
        let mut given: Vec<&Header> = self.secrets.headers.iter().collect();
        let mut headers = Vec::new();
        for planned in &self.load.headers {
            let PlannedHeader { name, value } = planned;
            let position = given.iter().position(|header| header.has_name(name));
            if let Some(position) = position {
                let header = given.remove(position);
                if value.is_some() && header.planned().value != *value {
                    return Err(JobError::new(format!(
                        "the header {} differs from the header that the load began with; leave it out, because its \
                         value is stored",
                        quoted(name)
                    )));
                }
                headers.push(header.clone());
                continue;
            }
            let variable = variable(name);
            let stored = value.clone();
            match stored.or_else(|| (self.secrets.environment)(&variable)) {
                Some(value) => headers.push(Header::parse(&format!("{name}: {value}"))?),
                None => self.missing.push(format!(
                    "--header '{name}: …', or {variable} in the environment"
                )),
            }
        }
        match given.first() {
            Some(header) => Err(JobError::new(format!(
                "the load has no header {}: leave it out, or start a new load",
                quoted(&header.planned().name)
            ))),
            None => Ok(headers),
        }
    }

    /// Returns the body that all requests share.
    fn body(&mut self) -> Result<Bytes, JobError> {
        let given = self.secrets.body.clone().map(Bytes::from);
        let Some(PlannedBody { bytes, file }) = &self.load.body else {
            return match given {
                None => Ok(Bytes::new()),
                Some(_) => Err(JobError::new(
                    "the load has no body for all requests: leave it out, or start a new load",
                )),
            };
        };
        let body = match (given, file) {
            (Some(body), _) => Some(body),
            (None, Some(file)) => {
                let content = std::fs::read(file).map_err(|error| {
                    let file = file.display();
                    JobError::new(format!(
                        "cannot read {file}: {error}; specify another file with --body-file"
                    ))
                });
                Some(content?.into())
            }
            (None, None) => (self.secrets.environment)(BODY_VARIABLE).map(Bytes::from),
        };
        match body {
            Some(body) if body.len() as u64 == *bytes => Ok(body),
            Some(body) => Err(JobError::new(format!(
                "the body has {}, but had {bytes} when the load began: pass the same body, or start a new load",
                plural(body.len() as u64, "byte")
            ))),
            None => {
                self.missing.push(format!(
                    "--body or --body-file with its {}, or {BODY_VARIABLE} in the environment",
                    plural(*bytes, "byte")
                ));
                Ok(Bytes::new())
            }
        }
    }

    fn make_requests(
        &mut self,
        planned: &[PlannedRequest],
        body: &Bytes,
    ) -> Result<Vec<Request>, JobError> {
        let mut requests = Vec::new();
        for request in planned {
            let link = LoadUrl::parse(&request.url)?;
            requests.push(Request {
                method: method(&request.method)?,
                body: body.clone(),
                weight: request.weight,
                ..Request::new(if request.has_user {
                    self.with_user(link)
                } else {
                    link
                })
            });
        }
        Ok(requests)
    }

    /// Reads the request file again.
    fn read_file(
        &mut self,
        file: &RequestsFile,
        expected: &[PlannedRequest],
    ) -> Result<Vec<Request>, JobError> {
        let first = expected.first().map(|request| LoadUrl::parse(&request.url));
        let server = first.transpose()?;
        let is_same = |requests: &[Request]| {
            planned(requests) == expected && content_bytes(requests) == file.content_bytes
        };
        let requests = read_requests(&file.path, server.as_ref())?;
        if is_same(&requests) {
            return Ok(requests);
        }
        // The URL on the command line may have contained a user name, which then applies to all paths in the file.
        let server = match server {
            Some(link) if expected.iter().any(|request| request.has_user) => self.with_user(link),
            _ => return Err(changed(file)),
        };
        let requests = read_requests(&file.path, Some(&server))?;
        // Without the user, which is reported as missing, the requests cannot be compared.
        if server.authorization.is_none() || is_same(&requests) {
            Ok(requests)
        } else {
            Err(changed(file))
        }
    }

    /// Adds the next user to a URL, or records that the user is missing.
    fn with_user(&mut self, link: LoadUrl) -> LoadUrl {
        let position = self.users;
        self.users += 1;
        let user = match &self.secrets.users[..] {
            [] => (self.secrets.environment)(USER_VARIABLE),
            [one] => Some(one.clone()),
            users => users.get(position).cloned(),
        };
        match user {
            Some(user) => link.with_user(&user),
            None => {
                let way = format!(
                    "--user NAME:PASSWORD for {}, or {USER_VARIABLE} in the environment",
                    link.origin
                );
                if !self.missing.contains(&way) {
                    self.missing.push(way);
                }
                link
            }
        }
    }

    /// Returns an error unless the user passed one user for all URLs with a user name, or one user
    /// for each of these URLs.
    fn check_users(&self) -> Result<(), JobError> {
        match (self.secrets.users.len(), self.users) {
            (0, _) | (1, 1..) => Ok(()),
            (_, 0) => Err(JobError::new(
                "no URL of the load has a user: leave out --user, or start a new load",
            )),
            (given, users) if given == users => Ok(()),
            (given, users) => {
                let have = if users == 1 { "has" } else { "have" };
                Err(JobError::new(format!(
                    "--user is given {given} times, and {users} of the load's URLs {have} a user: pass it once for \
                     all of them, or once for each, in order"
                )))
            }
        }
    }

    fn check_missing(&self) -> Result<(), JobError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        Err(JobError::new(format!(
            "the load has secrets, which its run file does not contain. Pass them again: {}",
            self.missing.join("; ")
        )))
    }
}

/// Returns the name of the environment variable for a header, such as `BENCHLAB_HEADER_X_API_KEY`.
fn variable(header: &str) -> String {
    let name = header.to_ascii_uppercase();
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    HEADER_VARIABLE.to_owned() + &name
}

fn changed(file: &RequestsFile) -> JobError {
    JobError::new(format!(
        "the requests in {} have changed since the load began: undo the change, or start a new load",
        file.path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, has_user: bool) -> PlannedRequest {
        PlannedRequest {
            method: "POST".into(),
            url: format!("http://127.0.0.1:8080{path}"),
            weight: 1,
            has_user,
        }
    }

    fn load(requests: Vec<PlannedRequest>) -> LoadSpec {
        LoadSpec {
            requests: vec![requests],
            ..LoadSpec::default()
        }
    }

    /// Returns the restored headers as lines, or the error message.
    fn headers(planned: &[(&str, &str)], given: &[&str]) -> Result<Vec<String>, String> {
        let load = LoadSpec {
            headers: planned
                .iter()
                .map(|(name, value)| PlannedHeader::new(name, value))
                .collect(),
            ..load(vec![request("/", false)])
        };
        let secrets = Secrets {
            headers: given.iter().map(|h| Header::parse(h).unwrap()).collect(),
            body: None,
            users: Vec::new(),
            environment: &|name| (name == "BENCHLAB_HEADER_X_API_KEY").then(|| "env".into()),
        };
        let restored = restored_requests(&load, &secrets).map_err(|e| e.to_string())?;
        Ok(restored[0][0].headers.iter().map(Header::line).collect())
    }

    #[test]
    fn headers_come_from_the_run_file_the_options_and_the_environment() {
        let planned = [("Accept", "a/b"), ("Cookie", "c"), ("X-Api-Key", "k")];
        assert_eq!(
            headers(&planned, &["cookie: d"]).unwrap(),
            ["Accept: a/b", "cookie: d", "X-Api-Key: env"]
        );
        let missing = headers(&planned, &[]).unwrap_err();
        assert!(missing.contains("--header 'Cookie: …', or BENCHLAB_HEADER_COOKIE"));
        let unknown = headers(&planned, &["Cookie: d", "X-Other: secret"]).unwrap_err();
        assert!(unknown.contains("no header `X-Other`") && !unknown.contains("secret"));
        let other = headers(&planned, &["Cookie: d", "Accept: c/d"]).unwrap_err();
        assert!(
            other.contains("`Accept` differs from the header"),
            "{other}"
        );
        assert!(headers(&planned, &["Cookie: d", "Accept: a/b"]).is_ok());
    }

    /// Returns the restored value of `Authorization` for each request, or the error message.
    fn users(has_user: &[bool], given: &[&str]) -> Result<Vec<Option<String>>, String> {
        let planned = has_user.iter().map(|has_user| request("/", *has_user));
        let secrets = Secrets {
            headers: Vec::new(),
            body: None,
            users: given.iter().map(|user| (*user).to_owned()).collect(),
            environment: &|_| None,
        };
        let restored = restored_requests(&load(planned.collect()), &secrets);
        let restored = restored.map_err(|e| e.to_string())?;
        let links = restored[0].iter().map(|request| &request.link);
        Ok(links.map(|link| link.authorization.clone()).collect())
    }

    #[test]
    fn users_are_given_once_for_all_urls_or_once_for_each() {
        // `a:b` and `c:` in Base64.
        let [first, second] = ["Basic YTpi", "Basic Yzo="].map(|value| Some(value.to_owned()));
        let both = [true, false, true];
        assert_eq!(
            users(&both, &["a:b"]).unwrap(),
            [first.clone(), None, first.clone()]
        );
        assert_eq!(users(&both, &["a:b", "c"]).unwrap(), [first, None, second]);
        let missing = users(&both, &[]).unwrap_err();
        assert_eq!(missing.matches("--user NAME:PASSWORD").count(), 1);
        let too_many = users(&both, &["a:b", "c:d", "e:f"]).unwrap_err();
        assert!(too_many.contains("3 times, and 2 of"), "{too_many}");
        let needless = users(&[false], &["a:b"]).unwrap_err();
        assert!(needless.contains("leave out --user"), "{needless}");
    }

    #[test]
    fn a_changed_file_of_requests_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.http");
        let restored = |text: &str, has_user, users: &[&str]| {
            std::fs::write(&path, text).unwrap();
            let requests_file = Some(RequestsFile {
                path: path.clone(),
                content_bytes: "X-Token: t".len() as u64 + 4,
            });
            let load = LoadSpec {
                requests_file,
                ..load(vec![request("/a", has_user)])
            };
            let secrets = Secrets {
                headers: Vec::new(),
                body: None,
                users: users.iter().map(|user| (*user).to_owned()).collect(),
                environment: &|_| None,
            };
            restored_requests(&load, &secrets).map_err(|e| e.to_string())
        };
        let text = "POST /a\nX-Token: t\n\nbody\n";
        for (has_user, users) in [(false, &[][..]), (true, &["a:b"])] {
            let requests = restored(text, has_user, users).unwrap();
            assert_eq!(requests[0][0].link.authorization.is_some(), has_user);
            for (part, other) in [("/a", "/b"), ("t\n", "to\n"), ("body", "bodies")] {
                let error = restored(&text.replace(part, other), has_user, users).unwrap_err();
                assert!(error.contains("have changed since"), "{error}");
            }
        }
        let missing = restored(text, true, &[]).unwrap_err();
        assert!(missing.contains("--user NAME:PASSWORD"), "{missing}");
    }
}
