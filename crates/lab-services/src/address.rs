// SPDX-License-Identifier: Apache-2.0
//! Where a server is and who connects to it, as a URL and as its parts.

use crate::Software;
use crate::percent::{self, decoded};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// The superuser of private servers.
pub(crate) const LAB: &str = "lab";
/// The role and database that subjects connect to.
pub(crate) const SUBJECTS: &str = "benchlab";

/// How the addresses of a kind of server are written.
pub(crate) struct Form {
    /// The form, for people.
    pub text: &'static str,
    /// The URL's schemes, the usual one first.
    pub schemes: &'static [&'static str],
    /// The port where none is given.
    pub port: u16,
    /// Sets a parameter of the query, by name and value; `false`: it is not known.
    pub set: fn(&mut ServiceAddress, &str, String) -> Result<bool, String>,
    /// Completes what was read, or says what is missing.
    pub complete: fn(&mut ServiceAddress) -> Result<(), String>,
}

/// Where a server is, and who connects.
#[derive(Clone)]
pub struct ServiceAddress {
    pub(crate) software: &'static Software,
    pub(crate) user: String,
    pub(crate) password: String,
    /// Name or address; an address of IPv6 without brackets.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    /// PostgreSQL: the folder of the sockets; MariaDB: the socket.
    pub(crate) socket: Option<PathBuf>,
    /// PostgreSQL's database; MariaDB's are the schemas.
    pub(crate) database: String,
}

impl ServiceAddress {
    /// The address of a private server, with a new password. Its port and socket are set later.
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

    /// Reads `scheme://USER:PASSWORD@HOST:PORT/DATABASE?parameters`. Error: what is wrong with it,
    /// without the password.
    pub(crate) fn parse(
        software: &'static Software,
        form: &Form,
        url: &str,
    ) -> Result<ServiceAddress, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it has no `://`")?;
        if !form.schemes.contains(&scheme) {
            return Err(format!("it does not begin with `{}://`", software.name));
        }
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority
            .rsplit_once('@')
            .ok_or("it names no user: `USER:PASSWORD@` belongs before the host, percent-encoded")?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = host_and_port(place)?;
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
                return Err(format!("the parameter `{name}` is not known"));
            }
        }
        if address.user.is_empty() {
            return Err("it names no user".into());
        }
        (form.complete)(&mut address)?;
        if address.host.is_none() && address.socket.is_none() {
            return Err("it names no host".into());
        }
        Ok(address)
    }

    /// `USER:PASSWORD` as a URL holds it.
    pub(crate) fn login(&self) -> String {
        format!("{}:{}", encoded(&self.user), encoded(&self.password))
    }

    /// The host as a URL holds it.
    pub(crate) fn url_host(&self) -> Option<String> {
        match self.host.as_deref()? {
            host if host.contains(':') => Some(format!("[{host}]")),
            host => Some(encoded(host)),
        }
    }

    /// The socket as a URL's parameter holds it.
    pub(crate) fn url_socket(&self) -> Option<String> {
        Some(encoded(self.socket.as_ref()?.to_str()?))
    }
}

/// Shows the address without user and password.
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

pub(crate) fn number(port: &str) -> Result<u16, String> {
    match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("`{port}` is not a port")),
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
    fn a_malformed_url_says_what_is_wrong_and_keeps_the_password_to_itself() {
        let error = |kind: &'static DatabaseKind, url| {
            ServiceAddress::parse(&kind.software, &kind.form, url)
                .err()
                .unwrap()
        };
        let postgresql = |url| error(&POSTGRESQL, url);
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
            error(&MARIADB, "mariadb://u:secret@h/?tls=1"),
            "the parameter `tls` is not known"
        );
    }
}
