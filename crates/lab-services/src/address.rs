// SPDX-License-Identifier: Apache-2.0
//! The address of a server together with the user who connects, as a URL and as its components.

use crate::Software;
use crate::percent::{self, decoded};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// The superuser of private servers.
pub(crate) const LAB: &str = "lab";
/// The name of both the role and the database that subjects use.
pub(crate) const SUBJECTS: &str = "benchlab";

/// The syntax of the addresses for a kind of server.
pub(crate) struct Form {
    /// The syntax as shown to users.
    pub text: &'static str,
    /// The URL schemes, preferred scheme first.
    pub schemes: &'static [&'static str],
    /// The default port.
    pub port: u16,
    /// Sets a query parameter by name and value. Returns `false` if the parameter is unknown.
    pub set: fn(&mut ServiceAddress, &str, String) -> Result<bool, String>,
    /// Completes the parsed address. Returns an error if a component is missing.
    pub complete: fn(&mut ServiceAddress) -> Result<(), String>,
}

/// The address of a server, together with the user who connects.
#[derive(Clone)]
pub struct ServiceAddress {
    pub(crate) software: &'static Software,
    pub(crate) user: String,
    pub(crate) password: String,
    /// A host name or an IP address. IPv6 addresses have no brackets.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    /// The directory of PostgreSQL's Unix socket, or the path of MariaDB's Unix socket.
    pub(crate) socket: Option<PathBuf>,
    /// PostgreSQL's database. MariaDB does not need it, because its schemas are its databases.
    pub(crate) database: String,
}

impl ServiceAddress {
    /// Creates the address of a private server with a new password. The port and the socket are set
    /// later.
    pub(crate) fn private(software: &'static Software, user: &str) -> io::Result<ServiceAddress> {
        Ok(ServiceAddress {
            software,
            user: user.into(),
            password: random()?,
            host: Some(Ipv4Addr::LOCALHOST.to_string()),
            port: 0,
            socket: None,
            database: SUBJECTS.into(),
        })
    }

    /// Parses `scheme://USER:PASSWORD@HOST:PORT/DATABASE?parameters`. Error messages do not contain the password.
    pub(crate) fn parse(
        software: &'static Software,
        form: &Form,
        url: &str,
    ) -> Result<ServiceAddress, String> {
        let (scheme, rest) = url.split_once("://").ok_or("`://` is missing")?;
        if !form.schemes.contains(&scheme) {
            return Err(format!("the URL must begin with `{}://`", software.name));
        }
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host_port) = authority
            .rsplit_once('@')
            .ok_or("the user is missing: put `USER:PASSWORD@` before the host, percent-encoded")?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = host_and_port(host_port)?;
        let mut address = ServiceAddress {
            software,
            user: decoded(user)?,
            password: decoded(password)?,
            host: host.map(decoded).transpose()?,
            port: port.unwrap_or(form.port),
            socket: None,
            database: decoded(database)?,
        };
        for parameter in parameters.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !(form.set)(&mut address, name, decoded(value)?)? {
                return Err(format!("unknown parameter `{name}`"));
            }
        }
        if address.user.is_empty() {
            return Err("the user is missing".into());
        }
        (form.complete)(&mut address)?;
        if address.host.is_none() && address.socket.is_none() {
            return Err("the host is missing".into());
        }
        Ok(address)
    }

    /// Returns `USER:PASSWORD`, encoded for a URL.
    pub(crate) fn login(&self) -> String {
        format!("{}:{}", encoded(&self.user), encoded(&self.password))
    }

    /// Returns the host, encoded for a URL.
    pub(crate) fn url_host(&self) -> Option<String> {
        match self.host.as_deref()? {
            host if host.contains(':') => Some(format!("[{host}]")),
            host => Some(encoded(host)),
        }
    }

    /// Returns the socket, encoded for a URL parameter.
    pub(crate) fn url_socket(&self) -> Option<String> {
        Some(encoded(self.socket.as_ref()?.to_str()?))
    }
}

/// Displays the address without user and password.
impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, &self.socket) {
            (Some(host), _) if host.contains(':') => write!(f, "[{host}]:{}", self.port),
            (Some(host), _) => write!(f, "{host}:{}", self.port),
            (None, Some(socket)) => write!(f, "{}", socket.display()),
            (None, None) => write!(f, "nowhere"),
        }
    }
}

/// Returns 128 random bits in hexadecimal digits.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn host_and_port(host_port: &str) -> Result<(Option<&str>, Option<u16>), String> {
    let (host, port) = match host_port.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a `]` is missing")?;
            (host, rest.strip_prefix(':').unwrap_or(""))
        }
        None => host_port.split_once(':').unwrap_or((host_port, "")),
    };
    let port = (!port.is_empty()).then(|| number(port)).transpose()?;
    Ok(((!host.is_empty()).then_some(host), port))
}

pub(crate) fn number(port: &str) -> Result<u16, String> {
    match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("`{port}` is not a valid port")),
    }
}

pub(crate) fn encoded(text: &str) -> String {
    percent::encoded(text, percent::RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mariadb::MARIADB;
    use crate::postgresql::POSTGRESQL;
    use crate::{DatabaseKind, Transport};

    fn targets(kind: &'static DatabaseKind, url: &str) -> [Option<String>; 2] {
        let address = ServiceAddress::parse(&kind.software, &kind.form, url).unwrap();
        [Transport::Tcp, Transport::Unix].map(|transport| (kind.target)(&address, transport, "a_1"))
    }

    #[test]
    fn targets_have_the_forms_of_the_specification() {
        let tcp = "postgresql://u%40:p%2F@127.0.0.1:5433/db?options=-csearch_path%3Da_1";
        let unix =
            "postgresql://u%40:p%2F@/db?host=%2Frun%2Fpg&port=5433&options=-csearch_path%3Da_1";
        let from = |url| targets(&POSTGRESQL, url);
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
        let from = |url| targets(&MARIADB, url);
        assert_eq!(from("mysql://u:p@[::1]"), [Some(tcp.into()), None]);
        assert_eq!(
            from("mariadb://u:p@localhost/x?socket=/run/sock"),
            [None, Some(unix.into())]
        );
    }

    #[test]
    fn a_malformed_url_is_explained_without_the_password() {
        let error = |kind: &'static DatabaseKind, url| {
            ServiceAddress::parse(&kind.software, &kind.form, url)
                .err()
                .unwrap()
        };
        let postgresql = |url| error(&POSTGRESQL, url);
        assert_eq!(postgresql("localhost"), "`://` is missing");
        assert_eq!(
            postgresql("mysql://a@b/c"),
            "the URL must begin with `postgresql://`"
        );
        assert!(postgresql("postgresql://host/db").contains("the user is missing"));
        assert_eq!(
            postgresql("postgresql://u:p@host"),
            "the database is missing"
        );
        assert_eq!(
            postgresql("postgresql://u:p@host:0/db"),
            "`0` is not a valid port"
        );
        assert_eq!(postgresql("postgresql://u:p@/db"), "the host is missing");
        assert!(postgresql("postgresql://u:p%zz@h/db").contains("hexadecimal"));
        assert_eq!(
            error(&MARIADB, "mariadb://u:secret@h/?tls=1"),
            "unknown parameter `tls`"
        );
    }
}
