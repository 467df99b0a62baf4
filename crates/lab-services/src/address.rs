// SPDX-License-Identifier: Apache-2.0
//! Where a server is and who connects to it, as a URL and as its parts.

use crate::{Kind, Transport};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// The superuser of private servers.
pub(crate) const LAB: &str = "lab";
/// The role that subjects connect to them as; its database has the same name.
pub(crate) const SUBJECTS: &str = "benchlab";

/// Where a server is, and who connects.
#[derive(Clone)]
pub(crate) struct Address {
    pub kind: Kind,
    pub user: String,
    pub password: String,
    /// Name or address; an address of IPv6 without brackets.
    pub host: Option<String>,
    pub port: u16,
    /// PostgreSQL: the folder of the sockets; MariaDB: the socket.
    pub socket: Option<PathBuf>,
    /// PostgreSQL's database; MariaDB's are the schemas.
    pub database: String,
}

impl Address {
    /// Of a private server, once it has a port and a socket; with a new password.
    pub fn private(kind: Kind, user: &str) -> io::Result<Address> {
        Ok(Address {
            kind,
            user: user.into(),
            password: random()?,
            host: Some(Ipv4Addr::LOCALHOST.to_string()),
            port: 0,
            socket: None,
            database: SUBJECTS.into(),
        })
    }

    /// Reads `scheme://USER:PASSWORD@HOST:PORT/DATABASE?parameters`. Error: what is wrong with it,
    /// without the password.
    pub fn parse(kind: Kind, url: &str) -> Result<Address, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it has no `://`")?;
        let schemes: &[&str] = match kind {
            Kind::Postgresql => &["postgresql", "postgres"],
            Kind::Mariadb => &["mariadb", "mysql"],
        };
        if !schemes.contains(&scheme) {
            return Err(format!("it does not begin with `{}://`", kind.name()));
        }
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority
            .rsplit_once('@')
            .ok_or("it names no user: `USER:PASSWORD@` belongs before the host, percent-encoded")?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = host_and_port(place)?;
        let mut address = Address {
            kind,
            user: decoded(user)?,
            password: decoded(password)?,
            host: host.map(decoded).transpose()?,
            port: port.unwrap_or(match kind {
                Kind::Postgresql => 5432,
                Kind::Mariadb => 3306,
            }),
            socket: None,
            database: decoded(database)?,
        };
        for parameter in parameters.split('&').filter(|p| !p.is_empty()) {
            address.set(parameter)?;
        }
        address.check()
    }

    fn set(&mut self, parameter: &str) -> Result<(), String> {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = decoded(value)?;
        match (self.kind, name) {
            (Kind::Postgresql, "host") if value.starts_with('/') => {
                self.socket = Some(value.into())
            }
            (Kind::Postgresql, "host") => self.host = Some(value),
            (Kind::Postgresql, "port") => self.port = number(&value)?,
            (Kind::Mariadb, "socket") => self.socket = Some(value.into()),
            _ => return Err(format!("the parameter `{name}` is not known")),
        }
        Ok(())
    }

    fn check(mut self) -> Result<Address, String> {
        if self.user.is_empty() {
            return Err("it names no user".into());
        }
        if self.kind == Kind::Postgresql && self.database.is_empty() {
            return Err("it names no database".into());
        }
        // With a socket, MariaDB's host is only there for the form's sake.
        if self.kind == Kind::Mariadb && self.socket.is_some() {
            self.host = None;
        }
        // To MariaDB's own client library `localhost` is the Unix socket.
        if self.kind == Kind::Mariadb && self.host.as_deref() == Some("localhost") {
            self.host = Some("127.0.0.1".into());
        }
        if self.host.is_none() && self.socket.is_none() {
            return Err("it names no host".into());
        }
        Ok(self)
    }

    /// The URL for subjects, as experiments/sql/README.md describes it; `None`: the server is not known
    /// to be reachable so.
    pub fn target(&self, transport: Transport, schema: &str) -> Option<String> {
        let login = format!("{}:{}", encoded(&self.user), encoded(&self.password));
        let (name, port) = (self.kind.name(), self.port);
        let socket = || Some(encoded(self.socket.as_ref()?.to_str()?));
        let host = || match self.host.as_deref()? {
            host if host.contains(':') => Some(format!("[{host}]")),
            host => Some(encoded(host)),
        };
        let path = format!("options={}", encoded(&format!("-csearch_path={schema}")));
        let (database, schema) = (encoded(&self.database), encoded(schema));
        Some(match (self.kind, transport) {
            (Kind::Postgresql, Transport::Tcp) => {
                format!("{name}://{login}@{}:{port}/{database}?{path}", host()?)
            }
            (Kind::Postgresql, Transport::Unix) => {
                format!(
                    "{name}://{login}@/{database}?host={}&port={port}&{path}",
                    socket()?
                )
            }
            (Kind::Mariadb, Transport::Tcp) => {
                format!("{name}://{login}@{}:{port}/{schema}", host()?)
            }
            (Kind::Mariadb, Transport::Unix) => {
                format!("{name}://{login}@localhost/{schema}?socket={}", socket()?)
            }
        })
    }
}

/// Without user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, &self.socket) {
            (Some(host), _) if host.contains(':') => write!(f, "[{host}]:{}", self.port),
            (Some(host), _) => write!(f, "{host}:{}", self.port),
            (None, Some(socket)) => write!(f, "{}", socket.display()),
            (None, None) => write!(f, "nowhere"),
        }
    }
}

/// 128 bits from the system, in hexadecimal digits.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn host_and_port(place: &str) -> Result<(Option<&str>, Option<u16>), String> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a `]` is missing")?;
            (host, rest.strip_prefix(':').unwrap_or(""))
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    let port = (!port.is_empty()).then(|| number(port)).transpose()?;
    Ok(((!host.is_empty()).then_some(host), port))
}

fn number(port: &str) -> Result<u16, String> {
    match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("`{port}` is not a port")),
    }
}

/// Percent-encoding: all but the unreserved characters of RFC 3986, section 2.3.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.push((16 * high + low) as u8),
            _ => return Err("a `%` is not followed by two hexadecimal digits".into()),
        }
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(kind: Kind, url: &str) -> [Option<String>; 2] {
        let address = Address::parse(kind, url).unwrap();
        [Transport::Tcp, Transport::Unix].map(|transport| address.target(transport, "a_1"))
    }

    #[test]
    fn targets_have_the_forms_of_the_specification() {
        let tcp = "postgresql://u%40:p%2F@127.0.0.1:5433/db?options=-csearch_path%3Da_1";
        let unix =
            "postgresql://u%40:p%2F@/db?host=%2Frun%2Fpg&port=5433&options=-csearch_path%3Da_1";
        let from = |url| targets(Kind::Postgresql, url);
        assert_eq!(
            from("postgres://u%40:p%2F@127.0.0.1:5433/db"),
            [Some(tcp.into()), None]
        );
        assert_eq!(
            from("postgresql://u%40:p%2F@/db?host=%2Frun%2Fpg&port=5433"),
            [None, Some(unix.into())]
        );
        let tcp = "mariadb://u:p@[::1]:3306/a_1";
        let unix = "mariadb://u:p@localhost/a_1?socket=%2Frun%2Fsock";
        let from = |url| targets(Kind::Mariadb, url);
        assert_eq!(from("mysql://u:p@[::1]"), [Some(tcp.into()), None]);
        assert_eq!(
            from("mariadb://u:p@localhost/x?socket=/run/sock"),
            [None, Some(unix.into())]
        );
    }

    #[test]
    fn a_malformed_url_says_what_is_wrong_and_keeps_the_password_to_itself() {
        let why = |kind, url| Address::parse(kind, url).err().unwrap();
        let postgresql = |url| why(Kind::Postgresql, url);
        assert_eq!(postgresql("localhost"), "it has no `://`");
        assert_eq!(
            postgresql("mysql://a@b/c"),
            "it does not begin with `postgresql://`"
        );
        assert!(postgresql("postgresql://host/db").contains("names no user"));
        assert_eq!(postgresql("postgresql://u:p@host"), "it names no database");
        assert_eq!(
            postgresql("postgresql://u:p@host:0/db"),
            "`0` is not a port"
        );
        assert_eq!(postgresql("postgresql://u:p@/db"), "it names no host");
        assert!(postgresql("postgresql://u:p%zz@h/db").contains("hexadecimal"));
        assert_eq!(
            why(Kind::Mariadb, "mariadb://u:secret@h/?tls=1"),
            "the parameter `tls` is not known"
        );
    }
}
