// SPDX-License-Identifier: Apache-2.0
//! The names of fields in structured logs, and their meanings.
//!
//! Source: the documentation of each producer in [`PRODUCERS`]; OpenTelemetry, *semantic
//! conventions for HTTP spans* 1.20 and 1.27; Elastic Common Schema 8.

/// The kind of information that a field of a log contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Time,
    /// A date without a time of day. Another field contains the time of day.
    Date,
    Method,
    /// The path with its query, or a URL.
    Target,
    /// Method, target and protocol.
    Request,
    Status,
    Bytes,
    Agent,
    Duration,
    /// The ID that the line of a page shares with the lines of the page's queries.
    Id,
}

/// The roles that `--fields` accepts, by name.
pub const ROLES: [(&str, Role); 9] = [
    ("time", Role::Time),
    ("method", Role::Method),
    ("path", Role::Target),
    ("request", Role::Request),
    ("status", Role::Status),
    ("bytes", Role::Bytes),
    ("agent", Role::Agent),
    ("duration", Role::Duration),
    ("id", Role::Id),
];

/// The names for each role, preferred names first, in the form that [`plain`] returns.
const NAMES: [(Role, &[&str]); 10] = [
    (
        Role::Time,
        &[
            "time",
            "timestamp",
            "@timestamp",
            "ts",
            "@t",
            "starttime",
            "startutc",
            "timeiso8601",
            "timelocal",
            "msec",
            "datetime",
            "requesttime",
            "requesttimeepoch",
            "edgestarttimestamp",
            "startedat",
            "asctime",
            "t",
            "startlocal",
            "eventtime",
            "logtime",
            "date",
            "createdat",
            "receivetimestamp",
        ],
    ),
    (Role::Date, &["date"]),
    (
        Role::Method,
        &[
            "method",
            "requestmethod",
            "httpmethod",
            "httprequestmethod",
            "verb",
            "clientrequestmethod",
            "csmethod",
        ],
    ),
    (
        Role::Target,
        &[
            "requesturi",
            "uri",
            "path",
            "requestpath",
            "requesturl",
            "originalurl",
            "url",
            "target",
            "httptarget",
            "urlpath",
            "requesteduri",
            "requestedurl",
            "csuristem",
            "csuri",
            "clientrequesturi",
            "clientrequestpath",
            "fullpath",
            "pathinfo",
            "rawpath",
            "urlfull",
            "urloriginal",
            "httpurl",
            "requesttarget",
            "resourcepath",
            "endpoint",
            "route",
            "httproute",
            "uripath",
        ],
    ),
    (
        Role::Request,
        &["request", "requestline", "httprequest", "firstline"],
    ),
    (
        Role::Status,
        &[
            "status",
            "statuscode",
            "responsecode",
            "httpstatus",
            "httpstatuscode",
            "httpresponsestatuscode",
            "responsestatus",
            "responsestatuscode",
            "downstreamstatus",
            "scstatus",
            "edgeresponsestatus",
            "code",
        ],
    ),
    (
        Role::Bytes,
        &[
            "bodybytessent",
            "bytessent",
            "bytesout",
            "responsesize",
            "responsebytes",
            "downstreamcontentsize",
            "size",
            "bytes",
            "scbytes",
            "contentlength",
            "responsecontentlength",
            "edgeresponsebytes",
            "httpresponsebodysize",
            "sentbytes",
        ],
    ),
    (
        Role::Agent,
        &[
            "useragent",
            "httpuseragent",
            "requestuseragent",
            "useragentoriginal",
            "csuseragent",
            "cs(useragent)",
            "clientrequestuseragent",
            "ua",
            "agent",
        ],
    ),
    (
        Role::Duration,
        &[
            "duration",
            "requesttime",
            "requestduration",
            "elapsed",
            "elapsedtime",
            "responsetime",
            "latency",
            "latencyhuman",
            "timetaken",
            "took",
            "dur",
            "responselatency",
            "totaltime",
            "totalduration",
            "processingtime",
            "runtime",
            "executiontime",
            "timeelapsed",
            "responseduration",
            "httpduration",
            "requestlatency",
            "eventduration",
            "latenciesrequest",
            "rt",
            "upstreamresponsetime",
        ],
    ),
    (
        Role::Id,
        &[
            "requestid",
            "reqid",
            "xrequestid",
            "httprequestid",
            "auditid",
            "traceid",
            "correlationid",
            "xcorrelationid",
            "correlation",
            "traceparent",
            "rid",
            "correlation",
        ],
    ),
];

/// Objects whose fields do not describe the request, although the fields' names may match.
const OTHERS: [&str; 36] = [
    "headers",
    "respheaders",
    "requestheaders",
    "responseheaders",
    "params",
    "query",
    "cookies",
    "args",
    "form",
    "body",
    "tls",
    "db",
    "sql",
    "redis",
    "view",
    "upstream",
    "origin",
    "backend",
    "dns",
    "cache",
    "error",
    "err",
    "exception",
    "exc",
    "cause",
    "config",
    "geo",
    "labels",
    "tags",
    "env",
    "resource",
    "process",
    "host",
    "kubernetes",
    "file",
    "source",
];

/// The penalty added to the rank of a field that is not in the object of the request or response.
const ELSEWHERE: u16 = 1 << 9;

/// Suffixes of names that imply a unit, with the unit in ns, longest first.
const SUFFIXES: [(&str, u64); 21] = [
    ("milliseconds", 1_000_000),
    ("microseconds", 1_000),
    ("nanoseconds", 1),
    ("seconds", 1_000_000_000),
    ("millisec", 1_000_000),
    ("microsec", 1_000),
    ("nanosec", 1),
    ("millis", 1_000_000),
    ("micros", 1_000),
    ("nanos", 1),
    ("msecs", 1_000_000),
    ("usecs", 1_000),
    ("secs", 1_000_000_000),
    ("nano", 1),
    ("msec", 1_000_000),
    ("usec", 1_000),
    ("nsec", 1),
    ("sec", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A program or library that writes logs and documents the unit of its durations.
#[derive(Clone, Copy, Debug)]
pub struct Producer {
    /// The producer's name in reports.
    pub name: &'static str,
    /// Groups of fields that only this producer writes: one field of each group must be present.
    ///
    /// Each field is a full path in the form that [`plain`] returns.
    marks: &'static [&'static [&'static str]],
    /// The field with the producer's durations, as the end of a path in the form that [`plain`]
    /// returns.
    ///
    /// Empty if the durations can be in any field, which is possible only for weak producers. The
    /// field matters because applications may log other durations, too.
    field: &'static str,
    /// The unit of the producer's durations, in ns.
    pub unit: u64,
    /// True if the producer's durations always have a fraction, and false if they never have a
    /// fraction. `None` allows both.
    pub has_fraction: Option<bool>,
    /// True if the producer writes exactly three decimals.
    pub has_three_decimals: bool,
    /// True if the marks must be numbers.
    has_number_marks: bool,
    /// True if dates and times of day in separate fields are in UTC.
    is_in_utc: bool,
    /// Fields that sound like the duration of a request but cover only a part of the request. Each
    /// is written in the same form as `field`.
    partial: &'static [&'static str],
    /// True if other programs write fields with the same names, too.
    ///
    /// In that case, the producer's unit is only a preference among the units that fit the values.
    pub is_weak: bool,
}

const fn producer(
    name: &'static str,
    field: &'static str,
    unit: u64,
    marks: &'static [&'static [&'static str]],
) -> Producer {
    Producer {
        name,
        marks,
        field,
        unit,
        has_fraction: None,
        has_three_decimals: false,
        has_number_marks: false,
        is_in_utc: false,
        partial: &[],
        is_weak: false,
    }
}

/// The known producers, most reliable marks first.
pub const PRODUCERS: [Producer; 24] = [
    // %REQUEST_DURATION% ends with the last byte of the request, and %RESPONSE_DURATION% with the
    // first byte of the response.
    Producer {
        partial: &["requestduration", "responseduration", "responsetxduration"],
        ..producer(
            "Envoy",
            "duration",
            1_000_000,
            &[&[
                "responseflags",
                "upstreamservicetime",
                "responsecodedetails",
            ]],
        )
    },
    producer(
        "Traefik",
        "duration",
        1,
        &[
            &["downstreamstatus", "originstatus", "requestpath"],
            &[
                "downstreamstatus",
                "startutc",
                "entrypointname",
                "routername",
                "origincontentsize",
            ],
        ],
    ),
    Producer {
        has_fraction: Some(true),
        ..producer(
            "Caddy",
            "duration",
            1_000_000_000,
            &[&["request.proto", "respheaders"], &["request.uri"]],
        )
    },
    producer(
        "Rails",
        "duration",
        1_000_000,
        &[&["controller"], &["action"], &["format"]],
    ),
    // Applications may have text in fields with these names, such as a view's name.
    Producer {
        has_number_marks: true,
        ..producer("Rails", "duration", 1_000_000, &[&["view"], &["db"]])
    },
    producer(
        "Serilog",
        "elapsed",
        1_000_000,
        &[
            &["@mt", "@m", "messagetemplate", "renderedmessage"],
            &["elapsed", "properties.elapsed"],
        ],
    ),
    producer(
        "pino",
        "responsetime",
        1_000_000,
        &[&["responsetime"], &["res.statuscode", "req.url"]],
    ),
    Producer {
        is_in_utc: true,
        ..producer(
            "CloudFront",
            "timetaken",
            1_000_000_000,
            &[&["xedgelocation", "xedgeresulttype"]],
        )
    },
    // Version 1 writes whole ms.
    Producer {
        has_fraction: Some(true),
        ..producer(
            "Azure",
            "properties.timetaken",
            1_000_000_000,
            &[&["properties.timetaken"]],
        )
    },
    // CloudFront's fields have the same names, but its durations are seconds with a fraction.
    Producer {
        has_fraction: Some(false),
        is_in_utc: true,
        ..producer("IIS", "timetaken", 1_000_000, &[&["csuristem"]])
    },
    producer(
        "Kong",
        "latencies.request",
        1_000_000,
        &[&["latencies.request"]],
    ),
    producer("APISIX", "latency", 1_000_000, &[&["apisixlatency"]]),
    producer(
        "Amazon API Gateway",
        "responselatency",
        1_000_000,
        &[&["responselatency"]],
    ),
    producer(
        "OpenTelemetry",
        "http.server.request.duration",
        1_000_000_000,
        &[&[
            "http.server.request.duration",
            "attributes.http.server.request.duration",
        ]],
    ),
    producer(
        "Elastic Common Schema",
        "event.duration",
        1,
        &[&["event.duration"]],
    ),
    producer(
        "logback-access",
        "elapsedtime",
        1_000_000,
        &[&["requestedurl", "requesteduri"], &["elapsedtime"]],
    ),
    Producer {
        has_fraction: Some(true),
        ..producer(
            "Vespa",
            "duration",
            1_000_000_000,
            &[
                &["peeraddr", "localport"],
                &["ip"],
                &["responsesize"],
                &["code"],
                &["uri"],
            ],
        )
    },
    producer(
        "Logbook",
        "duration",
        1_000_000,
        &[&["origin"], &["type"], &["correlation"], &["protocol"]],
    ),
    Producer {
        is_weak: true,
        ..producer(
            "bunyan",
            "",
            1_000_000,
            &[&["v"], &["hostname"], &["pid"], &["name"]],
        )
    },
    Producer {
        is_weak: true,
        ..producer("Rails", "", 1_000_000, &[&["controller"], &["action"]])
    },
    Producer {
        has_fraction: Some(true),
        is_weak: true,
        ..producer("zap", "", 1_000_000_000, &[&["ts"], &["level"], &["msg"]])
    },
    Producer {
        has_fraction: Some(false),
        is_weak: true,
        ..producer(
            "Go's slog",
            "",
            1,
            &[
                &["time"],
                &["level"],
                &["msg"],
                &["duration", "latency", "elapsed"],
            ],
        )
    },
    Producer {
        is_weak: true,
        ..producer(
            "zerolog",
            "",
            1_000_000,
            &[
                &["time"],
                &["level"],
                &["message"],
                &["duration", "dur", "elapsed", "latency"],
            ],
        )
    },
    Producer {
        has_fraction: Some(true),
        has_three_decimals: true,
        ..producer(
            "nginx",
            "requesttime",
            1_000_000_000,
            &[
                &["requesttime"],
                &[
                    "bodybytessent",
                    "timelocal",
                    "timeiso8601",
                    "httpuseragent",
                    "upstreamresponsetime",
                    "upstreamaddr",
                    "remoteuser",
                    "requesturi",
                    "serverprotocol",
                    "msec",
                ],
            ],
        )
    },
];

impl Producer {
    /// Returns true if the marks include one field of each of the producer's groups.
    pub fn is_marked(index: usize, marks: &Marks) -> bool {
        PRODUCERS[index].marks.len() == marks.0[index].count_ones() as usize
    }

    /// Returns true if the field at `path` contains the producer's durations.
    pub fn writes(&self, path: &str) -> bool {
        self.field.is_empty() || is_end_of(self.field, path)
    }

    /// Returns true if the field at `path` covers only a part of a request.
    pub fn is_partial(&self, path: &str) -> bool {
        self.partial.iter().any(|field| is_end_of(field, path))
    }

    /// Returns true if the field at `plain_path` both contains the producer's durations and
    /// identifies the producer.
    ///
    /// The path is in the form that [`plain`] returns.
    fn is_identified_by(&self, plain_path: &str) -> bool {
        let is_mark = |group: &&[&str]| group.contains(&plain_path);
        !self.is_weak && self.marks.iter().all(is_mark) && self.writes(plain_path)
    }
}

/// Returns true if `path` ends with `field`, which is in the form that [`plain`] returns.
fn is_end_of(field: &str, path: &str) -> bool {
    let letters = path.bytes().rev().filter(|b| !matches!(b, b'_' | b'-'));
    let mut letters = letters.map(|b| b.to_ascii_lowercase());
    let has_field = field.bytes().rev().all(|b| letters.next() == Some(b));
    has_field && matches!(letters.next(), None | Some(b'.'))
}

/// The groups of marks found so far: for each producer, a byte with one bit for each group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks([u8; PRODUCERS.len()]);

impl Marks {
    /// Returns the marks that the field at `path` matches.
    ///
    /// `is_number` is true if the field's value is a number.
    fn find(path: &str, is_number: bool) -> Marks {
        let mut marks = Marks::default();
        for (producer, marks) in PRODUCERS.iter().zip(&mut marks.0) {
            for (bit, group) in producer.marks.iter().enumerate() {
                if group.contains(&path) && (is_number || !producer.has_number_marks) {
                    *marks |= 1 << bit;
                }
            }
        }
        marks
    }

    /// Returns true if the marks identify a producer that writes dates and times of day in UTC.
    pub fn are_in_utc(&self) -> bool {
        let mut producers = PRODUCERS.iter().enumerate();
        producers.any(|(index, producer)| producer.is_in_utc && Producer::is_marked(index, self))
    }

    /// Adds the marks in `others`.
    pub fn add(&mut self, others: &Marks) {
        for (mine, others) in self.0.iter_mut().zip(&others.0) {
            *mine |= others;
        }
    }
}

/// The meaning of a field, derived from its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldMeaning {
    /// The field's roles, each with the rank of its name. Lower ranks are better, and 0 is the rank
    /// of a name that the user specified.
    pub roles: [Option<(Role, u16)>; 2],
    /// The unit that the name of a duration implies, in ns.
    pub unit: Option<u64>,
    /// True if the field is a duration that identifies its producer.
    pub is_own: bool,
    /// The producer marks that the field matches if its value is a number.
    pub number_marks: Marks,
    /// The producer marks that the field matches if its value is not a number.
    pub other_marks: Marks,
}

/// Converts a name to lower case and removes `_` and `-`.
pub fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the meaning of a field by its path, such as `request.headers.User-Agent`.
pub fn meaning(path: &str) -> FieldMeaning {
    let plain_path = plain(path);
    let segments: Vec<&str> = plain_path.split('.').collect();
    let (last, parents) = segments
        .split_last()
        .map_or(("", &[][..]), |(l, p)| (*l, p));
    let is_others = parents.iter().any(|parent| OTHERS.contains(parent));
    let depth = parents.len().min(15) as u16;
    let (name, unit) = duration_name(last, path);
    let whole: String = segments.concat();
    let mut found = FieldMeaning {
        is_own: PRODUCERS
            .iter()
            .any(|producer| producer.is_identified_by(&plain_path)),
        number_marks: Marks::find(&plain_path, true),
        other_marks: Marks::find(&plain_path, false),
        ..FieldMeaning::default()
    };
    let mut next = 0;
    for (role, names) in NAMES {
        let is_outside = (is_others && !matches!(role, Role::Agent | Role::Id))
            || (role == Role::Bytes && parents.contains(&"request"));
        let name = if role == Role::Duration { name } else { last };
        let is_whole = |known: &str| depth > 0 && known == whole && !parents.contains(&"upstream");
        let is_named = |known: &&str| (*known == name && !is_outside) || is_whole(known);
        let Some(rank) = names.iter().position(is_named) else {
            continue;
        };
        let rank = (rank as u16 + 1) * 16 + depth;
        let rank = match is_in_own_object(role, parents) {
            true => rank,
            false => rank + ELSEWHERE,
        };
        // A name can have up to two roles.
        if next < found.roles.len() {
            found.roles[next] = Some((role, rank));
            next += 1;
        }
        if role == Role::Duration {
            found.unit = unit.or(is_upstream_time(path).then_some(1_000_000_000));
        }
    }
    found
}

/// Returns true if a field is in an object that describes the request or the response.
///
/// Other objects can have fields with the same names, such as the path of a file.
fn is_in_own_object(role: Role, parents: &[&str]) -> bool {
    let own = match role {
        Role::Method | Role::Target => ["req", "request"],
        Role::Status | Role::Bytes => ["res", "response"],
        _ => return false,
    };
    parents.last().is_some_and(|parent| own.contains(parent))
}

/// Returns true if `path` is the name of an ID that multiple requests can share, because they
/// belong to one trace or one session.
pub fn is_shared_id(path: &str) -> bool {
    let name = plain(path);
    name.contains("trace") || name.contains("correlation")
}

/// Returns true for nginx's `$upstream_response_time`, which is in seconds.
pub fn is_upstream_time(path: &str) -> bool {
    path.ends_with("upstream_response_time")
}

/// Splits a duration's name into the name without the unit, and the unit in ns.
fn duration_name<'n>(last: &'n str, path: &str) -> (&'n str, Option<u64>) {
    // `duration_s` and `elapsedTimeS`, but not a plural.
    let ending = path.len().checked_sub(2).and_then(|at| path.get(at..));
    let is_seconds = ending.is_some_and(|end| {
        matches!(end, "_s" | "-s" | ".s")
            || (end.ends_with('S') && end.starts_with(|c: char| c.is_ascii_lowercase()))
    });
    if let Some(name) = last.strip_suffix('s').filter(|_| is_seconds) {
        return (name, Some(1_000_000_000));
    }
    for (suffix, unit) in SUFFIXES {
        if let Some(name) = last.strip_suffix(suffix)
            && !name.is_empty()
        {
            return (name.strip_suffix("in").unwrap_or(name), Some(unit));
        }
    }
    (last, None)
}

/// Returns the last name of a path. If it is just a unit, the result includes the name before it:
/// `duration_us` for `transaction.duration.us`.
fn last_name(path: &str) -> String {
    let (before, last) = path.rsplit_once('.').unwrap_or(("", path));
    match last {
        "ms" | "us" | "ns" | "s" if !before.is_empty() => {
            let name = before.rsplit('.').next().unwrap_or(before);
            format!("{name}_{last}")
        }
        _ => last.into(),
    }
}

/// Returns true if an unknown name sounds like a duration.
pub fn sounds_like_duration(path: &str) -> bool {
    let plain = plain(&last_name(path));
    let has_word = ["dur", "elaps", "latenc", "took", "taken", "time", "millis"]
        .iter()
        .any(|part| plain.contains(part));
    (has_word && !plain.contains("timestamp")) || implies_unit(path)
}

/// Returns true if a name ends with a unit, such as `OriginResponseDurationMs`.
pub fn implies_unit(path: &str) -> bool {
    let last = last_name(path);
    plain(&last).ends_with("ms") || ["_us", "_ns", "_s"].iter().any(|unit| last.ends_with(unit))
}

/// Returns the name of a role in the option `--fields`.
fn role_name(role: Role) -> &'static str {
    let found = ROLES.iter().find(|(_, known)| *known == role);
    found.map_or("", |(name, _)| name)
}

/// The roles of fields that the user specified, such as `--fields time=ts,path=request.uri`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap(Vec<(Role, String)>);

impl FieldMap {
    /// Parses the option's value. Returns an error that describes the invalid item.
    pub fn new(text: &str) -> Result<FieldMap, String> {
        let pair = |pair: &str| {
            let roles = || ROLES.map(|(name, _)| name).join(", ");
            let (name, field) = pair.split_once('=').ok_or_else(|| {
                format!(
                    "`{pair}` has no `=`: expected NAME=FIELD, such as time=ts,path=request.uri"
                )
            })?;
            let role = ROLES.iter().find(|(known, _)| *known == name.trim());
            let (_, role) = role.ok_or_else(|| {
                format!(
                    "unknown name `{}`: expected one of {}",
                    name.trim(),
                    roles()
                )
            })?;
            match field.trim() {
                "" => Err(format!("`{pair}` has no field after the `=`")),
                field => Ok((*role, field.to_string())),
            }
        };
        let pairs: Result<Vec<_>, String> = text.split(',').map(pair).collect();
        let pairs = pairs?;
        for (i, (role, field)) in pairs.iter().enumerate() {
            let before = &pairs[..i];
            if before.iter().any(|(other, _)| other == role) {
                return Err(format!("`{}` is specified twice", role_name(*role)));
            }
            let same = before
                .iter()
                .filter(|(_, other)| other.eq_ignore_ascii_case(field));
            if same.count() > 1 {
                return Err(format!("the field `{field}` has more than two roles"));
            }
        }
        Ok(FieldMap(pairs))
    }

    /// Returns each field with its pair of role and name as in the option, such as `time=ts`.
    pub fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        let pairs = self.0.iter();
        pairs.map(|(role, field)| (field.as_str(), format!("{}={field}", role_name(*role))))
    }

    /// Returns the meaning of a field. The user's roles take precedence over the known names.
    ///
    /// A field that the user did not specify loses each role that the user assigned to another
    /// field.
    pub fn meaning(&self, path: &str, known: FieldMeaning) -> FieldMeaning {
        let mut meaning = known;
        for slot in &mut meaning.roles {
            *slot = slot.filter(|(role, _)| !self.0.iter().any(|(assigned, _)| assigned == role));
        }
        let pairs = self.0.iter();
        let mut own = pairs.filter(|(_, field)| field.eq_ignore_ascii_case(path));
        if let Some((role, _)) = own.next() {
            let second = own.next();
            meaning.roles = [Some((*role, 0)), second.map(|(role, _)| (*role, 0))];
            if meaning
                .roles
                .iter()
                .flatten()
                .any(|(role, _)| *role == Role::Duration)
            {
                let last = last_name(path);
                meaning.unit = duration_name(&plain(&last), &last).1;
            }
        }
        meaning
    }

    /// Returns the name of the field to which the user assigned `role`.
    pub fn field(&self, role: Role) -> Option<&str> {
        let assigned = self.0.iter().find(|(assigned, _)| *assigned == role);
        assigned.map(|(_, field)| field.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duration(path: &str) -> Option<Option<u64>> {
        let meaning = meaning(path);
        let is_duration = meaning
            .roles
            .iter()
            .flatten()
            .any(|(role, _)| *role == Role::Duration);
        is_duration.then_some(meaning.unit)
    }

    #[test]
    fn names_imply_units() {
        for (path, unit) in [
            ("duration", None),
            ("duration_ms", Some(1_000_000)),
            ("durationMs", Some(1_000_000)),
            ("duration_us", Some(1_000)),
            ("duration_ns", Some(1)),
            ("duration_s", Some(1_000_000_000)),
            ("durationInSeconds", Some(1_000_000_000)),
            ("elapsedTimeS", Some(1_000_000_000)),
            ("ElapsedMilliseconds", Some(1_000_000)),
            ("DurationNanoseconds", Some(1)),
            ("request_time_sec", Some(1_000_000_000)),
            ("responseTimeMillis", Some(1_000_000)),
            ("http.server.request.duration", None),
            ("a.b.latency", None),
        ] {
            assert_eq!(duration(path), Some(unit), "{path}");
        }
        for path in [
            "durations",
            "db.duration",
            "upstream.latency",
            "x",
            "ms",
            "",
        ] {
            assert_eq!(duration(path), None, "{path}");
        }
    }

    #[test]
    fn a_producers_durations_are_in_its_own_field() {
        let writes = |name: &str, path: &str| {
            let mut found = PRODUCERS.iter().filter(|producer| producer.name == name);
            found.any(|producer| producer.writes(path))
        };
        assert!(writes("Elastic Common Schema", "_source.event.duration"));
        assert!(!writes("Elastic Common Schema", "duration"));
        assert!(writes("Azure", "properties.timeTaken"));
        assert!(writes("Kong", "latencies.request") && !writes("Kong", "latency"));
        assert!(writes("Serilog", "Properties.Elapsed") && !writes("Serilog", "RequestElapsed"));
        let is_own = |path: &str| meaning(path).is_own;
        assert!(is_own("event.duration") && is_own("responseLatency"));
        assert!(!is_own("duration") && !is_own("responseTime") && !is_own("apisix_latency"));
    }

    #[test]
    fn names_of_times_do_not_sound_like_durations() {
        assert!(sounds_like_duration("EdgeTimeToFirstByteMs"));
        assert!(sounds_like_duration("spentTime") && sounds_like_duration("wait_us"));
        assert!(!sounds_like_duration("EdgeEndTimestamp") && !sounds_like_duration("spent"));
        assert!(implies_unit("a.OriginResponseDurationMs") && !implies_unit("spentTime"));
        let parent = "transaction.duration.us";
        assert!(sounds_like_duration(parent) && implies_unit(parent));
        let map = FieldMap::new("duration=transaction.duration.us").expect("fields");
        assert_eq!(map.meaning(parent, meaning(parent)).unit, Some(1_000));
    }

    #[test]
    fn names_of_many_producers_are_known() {
        let role = |path: &str| meaning(path).roles[0].map(|(role, _)| role);
        for (path, expected) in [
            ("http.request.method", Role::Method),
            ("url.path", Role::Target),
            ("http.response.status_code", Role::Status),
            ("http.target", Role::Target),
            ("httpRequest.requestUrl", Role::Target),
            ("request.headers.User-Agent", Role::Agent),
            ("user_agent.original", Role::Agent),
            ("Properties.RequestPath", Role::Target),
            ("cs-uri-stem", Role::Target),
            ("req.url", Role::Target),
            ("trace_id", Role::Id),
        ] {
            assert_eq!(role(path), Some(expected), "{path}");
        }
        assert_eq!(role("http.response.body.size"), Some(Role::Bytes));
        assert_eq!(role("request.size"), None);
        assert_eq!(role("request.headers.path"), None);
    }

    #[test]
    fn given_fields_take_precedence_over_known_names() {
        let map = FieldMap::new("time=ts, path=request.uri,duration=elapsed_ms").expect("fields");
        let role = |path: &str| map.meaning(path, meaning(path)).roles[0].map(|(role, _)| role);
        assert_eq!(role("request.uri"), Some(Role::Target));
        assert_eq!((role("path"), role("method")), (None, Some(Role::Method)));
        assert_eq!(
            map.meaning("elapsed_ms", meaning("elapsed_ms")).unit,
            Some(1_000_000)
        );
        for bad in [
            "",
            "time",
            "x=y",
            "time=",
            "path=a,time=ts,path=b",
            "path=a,request=A,time=a",
        ] {
            assert!(FieldMap::new(bad).is_err(), "{bad}");
        }
    }
}
