// SPDX-License-Identifier: Apache-2.0
//! The lab's own connection to a server.

use crate::address::Address;
use crate::installed;
use crate::{Kind, ServiceError};
use mysql::prelude::Queryable;
use nix::unistd::Pid;
use postgres::SimpleQueryMessage;
use postgres::error::SqlState;
use std::time::Duration;

/// Nobody waits longer for a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection of the lab: the superuser's to a private server, the given user's to another.
pub struct Admin {
    pub(crate) connection: Connection,
    kind: Kind,
    /// Who gets the schemas.
    owner: Option<String>,
    /// Sent so far; those of the handshake apart.
    pub(crate) statements: u64,
}

pub(crate) enum Connection {
    Postgresql(Box<postgres::Client>),
    Mariadb(Box<mysql::Conn>),
}

/// Rows of text; `None` is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

impl Admin {
    /// Connects, over the Unix socket if there is one. `owner`: the role that schemas are made for, if
    /// it is another one.
    pub(crate) fn connect(address: &Address, owner: Option<&str>) -> Result<Admin, ServiceError> {
        let connection = match address.kind {
            Kind::Postgresql => postgresql(address)
                .map(Box::new)
                .map(Connection::Postgresql),
            Kind::Mariadb => mariadb(address).map(Box::new).map(Connection::Mariadb),
        };
        let mut admin = Admin {
            connection: connection.map_err(|refusal| refusal.of(address))?,
            kind: address.kind,
            owner: owner.map(str::to_owned),
            statements: 0,
        };
        admin.check_version(address)?;
        if address.kind == Kind::Postgresql {
            // Only superusers may; other users' readings are told from the rest by a mark.
            let _ = admin.run("SET pg_stat_statements.track = 'none'");
        }
        Ok(admin)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    fn check_version(&mut self, address: &Address) -> Result<(), ServiceError> {
        let found = self.value("SELECT version()")?;
        let version = installed::version(self.kind, &found);
        if version.is_some_and(|version| self.kind.supports(version)) {
            return Ok(());
        }
        let make = match self.kind {
            Kind::Mariadb if version.is_none() => "MySQL ",
            Kind::Mariadb => "MariaDB ",
            Kind::Postgresql => "",
        };
        Err(ServiceError::Version {
            kind: self.kind,
            place: address.to_string(),
            found: format!("{make}{found}"),
        })
    }

    /// Executes a statement; on PostgreSQL it may be several.
    pub fn run(&mut self, statement: &str) -> Result<(), ServiceError> {
        self.statements += 1;
        match &mut self.connection {
            Connection::Postgresql(client) => {
                client.batch_execute(statement).map_err(postgresql_words)
            }
            Connection::Mariadb(client) => client.query_drop(statement).map_err(mariadb_words),
        }
        .map_err(|words| self.refused(words))
    }

    /// The rows of a query, as text.
    pub fn query(&mut self, query: &str) -> Result<Rows, ServiceError> {
        self.statements += 1;
        match &mut self.connection {
            Connection::Postgresql(client) => rows_of_postgresql(client, query),
            Connection::Mariadb(client) => rows_of_mariadb(client, query),
        }
        .map_err(|words| self.refused(words))
    }

    /// The first column of the first row of a query; empty if it is NULL or not there.
    pub fn value(&mut self, query: &str) -> Result<String, ServiceError> {
        let first = self.query(query)?.into_iter().next();
        Ok(first
            .and_then(|row| row.into_iter().next().flatten())
            .unwrap_or_default())
    }

    /// Makes an empty schema for the subjects: PostgreSQL's within the database, MariaDB's is a database.
    pub fn create_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        let schema = self.quoted(name);
        match (self.kind, self.owner.clone()) {
            (Kind::Postgresql, None) => self.run(&format!("CREATE SCHEMA {schema}")),
            (Kind::Postgresql, Some(owner)) => {
                self.run(&format!("CREATE SCHEMA {schema} AUTHORIZATION {owner}"))
            }
            (Kind::Mariadb, owner) => {
                self.run(&format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"))?;
                let Some(owner) = owner else { return Ok(()) };
                // In a grant `_` and `%` stand for any characters.
                let pattern = schema.replace('_', "\\_").replace('%', "\\%");
                self.run(&format!("GRANT ALL PRIVILEGES ON {pattern}.* TO {owner}"))
            }
        }
    }

    /// Executes a statement as the schema's owner, who then owns what it makes; names without a schema
    /// are of this one.
    pub fn run_in(&mut self, schema: &str, statement: &str) -> Result<(), ServiceError> {
        let place = self.quoted(schema);
        match self.kind {
            Kind::Postgresql => {
                let role = self.owner.as_ref().map(|o| format!("SET LOCAL ROLE {o};"));
                let role = role.unwrap_or_default();
                self.run(&format!(
                    "BEGIN; SET LOCAL search_path = {place}; {role} {statement}; COMMIT"
                ))
                .inspect_err(|_| drop(self.run("ROLLBACK")))
            }
            Kind::Mariadb => {
                self.run(&format!("USE {place}"))?;
                self.run(statement)
            }
        }
    }

    /// Removes a schema and all that is in it, if it is there.
    pub fn drop_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        let schema = self.quoted(name);
        self.run(&match self.kind {
            Kind::Postgresql => format!("DROP SCHEMA IF EXISTS {schema} CASCADE"),
            Kind::Mariadb => format!("DROP DATABASE IF EXISTS {schema}"),
        })
    }

    /// A name as an identifier.
    pub fn quoted(&self, name: &str) -> String {
        let mark = match self.kind {
            Kind::Postgresql => "\"",
            Kind::Mariadb => "`",
        };
        format!("{mark}{}{mark}", name.replace(mark, &mark.repeat(2)))
    }

    /// What serves this connection on the server's machine: a process, or MariaDB's thread if each
    /// connection has one.
    pub(crate) fn served_by(&mut self) -> Option<Pid> {
        let number = self.value(match self.kind {
            Kind::Postgresql => "SELECT pg_backend_pid()",
            Kind::Mariadb => {
                "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID() \
                 AND @@thread_handling = 'one-thread-per-connection'"
            }
        });
        number.ok()?.parse().ok().map(Pid::from_raw)
    }

    pub(crate) fn refused(&self, words: String) -> ServiceError {
        ServiceError::Statement {
            kind: self.kind,
            words,
        }
    }
}

fn rows_of_postgresql(client: &mut postgres::Client, query: &str) -> Result<Rows, String> {
    let messages = client.simple_query(query).map_err(postgresql_words)?;
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    Ok(rows
        .map(|row| {
            (0..row.len())
                .map(|i| row.get(i).map(str::to_owned))
                .collect()
        })
        .collect())
}

fn rows_of_mariadb(client: &mut mysql::Conn, query: &str) -> Result<Rows, String> {
    let rows: Vec<mysql::Row> = client.query(query).map_err(mariadb_words)?;
    let text = |value| match value {
        mysql::Value::NULL => None,
        mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    };
    Ok(rows
        .into_iter()
        .map(|row| row.unwrap().into_iter().map(text).collect())
        .collect())
}

/// The server's own words where it has some.
pub(crate) fn postgresql_words(error: postgres::Error) -> String {
    let said = error.as_db_error().map(|e| match e.hint() {
        Some(hint) => format!("{}: {} ({hint})", e.severity(), e.message()),
        None => format!("{}: {}", e.severity(), e.message()),
    });
    said.unwrap_or_else(|| with_sources(&error))
}

pub(crate) fn mariadb_words(error: mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(e) => format!("{} ({})", e.message, e.code),
        other => with_sources(&other),
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        source = error.source();
    }
    words
}

/// Why there is no connection.
enum Refusal {
    Unreachable(String),
    Login(String),
    Tls(String),
    Other(String),
}

impl Refusal {
    fn of(self, address: &Address) -> ServiceError {
        let (kind, place, user) = (address.kind, address.to_string(), address.user.clone());
        match self {
            Refusal::Unreachable(why) => ServiceError::Unreachable { kind, place, why },
            Refusal::Login(words) => ServiceError::Login {
                kind,
                place,
                user,
                words,
            },
            Refusal::Tls(words) => ServiceError::Tls {
                kind,
                place,
                user,
                words,
            },
            Refusal::Other(why) => ServiceError::Rights { kind, place, why },
        }
    }
}

fn postgresql(address: &Address) -> Result<postgres::Client, Refusal> {
    let mut config = postgres::Config::new();
    match (&address.socket, &address.host) {
        (Some(folder), _) => config.host_path(folder),
        (None, host) => config.host(host.as_deref().unwrap_or_default()),
    };
    config
        .port(address.port)
        .user(&address.user)
        .password(&address.password);
    config.dbname(&address.database).connect_timeout(PATIENCE);
    config
        .application_name("benchlab")
        .ssl_mode(postgres::config::SslMode::Disable);
    config.connect(postgres::NoTls).map_err(|error| {
        let login = [
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        ];
        let code = error.code().cloned();
        let words = postgresql_words(error);
        match code {
            None => Refusal::Unreachable(words),
            Some(_) if words.contains("no encryption") || words.contains("SSL off") => {
                Refusal::Tls(words)
            }
            Some(code) if login.contains(&code) => Refusal::Login(words),
            Some(_) => Refusal::Other(words),
        }
    })
}

fn mariadb(address: &Address) -> Result<mysql::Conn, Refusal> {
    let mut options = mysql::OptsBuilder::new()
        .user(Some(&address.user))
        .pass(Some(&address.password))
        .tcp_connect_timeout(Some(PATIENCE))
        .prefer_socket(false);
    options = match (&address.socket, &address.host) {
        (Some(socket), _) => options.socket(socket.to_str()),
        (None, host) => options
            .ip_or_hostname(host.as_deref())
            .tcp_port(address.port),
    };
    mysql::Conn::new(options).map_err(|error| {
        let code = match &error {
            mysql::Error::MySqlError(e) => Some(e.code),
            _ => None,
        };
        let words = mariadb_words(error);
        // Of MariaDB's error codes: access denied, plugin not known, TLS required.
        match code {
            None => Refusal::Unreachable(words),
            Some(1044 | 1045 | 1130 | 1698) => Refusal::Login(words),
            Some(3159) => Refusal::Tls(words),
            Some(_) => Refusal::Other(words),
        }
    })
}
