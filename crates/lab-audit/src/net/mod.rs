// SPDX-License-Identifier: Apache-2.0
//! `audit net`: compares IPv4 with IPv6, for a host name or on this machine.
//!
//! Each turn connects to one fixed address: the first IPv4 address or the first IPv6 address of the
//! name. The families alternate in mirrored order.

mod names;
mod path;
mod ping;
mod spaces;
mod turns;

use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{AuditObject, Class, Value};
use lab_host::Root;
use lab_host::namespace::{Namespace, NamespacePair};
use lab_load::IpFamily;
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use lab_stats::order::median;
use lab_stats::signed_rank::center;
use names::AddressNames;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use turns::{AddressTurns, take_turns};
pub use turns::{NetStep, NetTurn};

/// The delay after which Happy Eyeballs tries the second address (RFC 8305, section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The classes of objects in a network audit.
pub const CLASSES: [Class; 4] = [NAME, ADDRESS, PAIR, RESOLVERS];

const NAME: Class = Class {
    name: "name",
    none: "No name was given, only addresses.",
    values: &[
        ("lookup", "duration of the name lookup"),
        ("found", "whether the name has an address"),
        ("ipv4", "whether the name has an IPv4 address"),
        ("ipv6", "whether the name has an IPv6 address"),
    ],
};

const ADDRESS: Class = Class {
    name: "address",
    none: "No address was tried.",
    values: &[
        ("family", "IPv4 or IPv6"),
        ("connect", "median time to connect"),
        ("failed_share", "fraction of connections that failed"),
        ("failing", "how connections failed: refused, or silent"),
        ("failed_after", "how long the last failed connection took"),
        ("tls_failed_share", "fraction of TLS handshakes that failed"),
        ("tls_failure", "how the last failed handshake failed"),
        (
            "unanswered_share",
            "fraction of requests without a response",
        ),
        (
            "unanswered",
            "how the last request without a response failed",
        ),
        ("round_trip", "median round trip"),
        (
            "round_trip_by",
            "how the round trip was measured: ICMP or a TCP connection",
        ),
        ("lost_share", "fraction of echo requests without a reply"),
        ("hops", "routers on the way back"),
        ("reverse", "reverse name of the address"),
        ("mtu", "size of the largest packet that arrives"),
        ("mtu_by", "how the MTU was measured"),
        (
            "larger",
            "what happens to larger packets: refused, lost, or not tried",
        ),
        (
            "large_answered",
            "whether a request of more than one packet gets a response",
        ),
        (
            "small_answered",
            "whether the same request in small packets gets a response",
        ),
    ],
};

const PAIR: Class = Class {
    name: "pair",
    none: "No host name has both an IPv4 and an IPv6 address that responds.",
    values: &[
        (
            "ratio",
            "connection time over IPv6 divided by that over IPv4",
        ),
        ("ratio_low", "lower end of the ratio's interval"),
        ("ratio_high", "upper end of the ratio's interval"),
        ("connect4", "median connection time over IPv4"),
        ("connect6", "median connection time over IPv6"),
        ("canonical4", "canonical name for IPv4"),
        ("canonical6", "canonical name for IPv6"),
        ("reverse4", "reverse name of the IPv4 address"),
        ("reverse6", "reverse name of the IPv6 address"),
        ("same_end", "whether both families lead to the same names"),
        ("first", "the family that this system tries first"),
        ("taken", "the family that Happy Eyeballs uses"),
        (
            "first_fails",
            "whether the family that is tried first fails",
        ),
        (
            "first_failing",
            "how the family that is tried first fails: refused or silent",
        ),
        (
            "late",
            "how long Happy Eyeballs waits for an unresponsive address family",
        ),
        (
            "reserve",
            "cost if the family that is tried first were unreachable",
        ),
    ],
};

const RESOLVERS: Class = Class {
    name: "resolvers",
    none: "No name was looked up.",
    values: &[
        ("addresses", "addresses in /etc/resolv.conf"),
        ("over_ipv6", "whether a resolver responds over IPv6"),
    ],
};

/// A name or address to connect to.
#[derive(Clone, Debug)]
pub struct NetTarget {
    /// The name or address, as given by the user.
    pub name: String,
    /// The port, or 0 for listeners that benchlab itself opens on this machine.
    pub port: u16,
    /// True to use TLS.
    pub tls: bool,
}

/// The observations for a name.
pub struct NetObservation {
    target: NetTarget,
    /// The duration of the lookup in ns, or `None` if the target is an address.
    lookup_ns: Option<f64>,
    /// The first address of each family, in the order of the system's address selection (RFC 6724),
    /// or the reason the lookup failed.
    sides: Result<Vec<AddressTurns>, String>,
    /// Loopback addresses that are not available on this machine, each with the reason.
    missing: Vec<(IpAddr, String)>,
    rounds: Vec<NetTurn>,
    tls: bool,
    /// The names of the IPv4 address and of the IPv6 address.
    names: [AddressNames; 2],
}

/// Returns the built-in rules, or an error if a rule is invalid. A test checks that all rules are
/// valid.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("net", &CLASSES)
}

/// Looks up a name and measures its addresses in turns. `step` receives the number of completed rounds.
pub fn observe(target: &NetTarget, rounds: u32, step: &mut dyn FnMut(u32)) -> NetObservation {
    let began = Instant::now();
    let addresses = names::addresses(&target.name, target.port);
    let is_name = target.name.parse::<IpAddr>().is_err();
    let lookup_ns = is_name.then(|| began.elapsed().as_nanos() as f64);
    let sides = addresses.map(|addresses| {
        let sides = first_addresses(&addresses).into_iter();
        sides.map(|side| side.with_lookups(&target.name)).collect()
    });
    let mut observation = NetObservation {
        target: target.clone(),
        lookup_ns,
        tls: target.tls,
        rounds: Vec::new(),
        missing: Vec::new(),
        sides,
        names: Default::default(),
    };
    if let Ok(sides) = &mut observation.sides {
        for side in sides.iter() {
            let names = AddressNames::look_up(&target.name, side.address.ip(), side.family);
            observation.names[side.family as usize] = names;
        }
        observation.rounds = take_turns(sides, &target.name, target.tls, rounds, step);
    }
    observation
}

/// Compares 127.0.0.1 with ::1 on this machine, with listeners that respond immediately.
///
/// The values of an address that the machine lacks are unknown.
pub fn local(rounds: u32, step: &mut dyn FnMut(u32)) -> NetObservation {
    let (mut listening_addresses, mut missing) = (Vec::new(), Vec::new());
    let loopbacks: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    for address in loopbacks {
        let bound = TcpListener::bind((address, 0)).and_then(|listener| {
            let address = listener.local_addr()?;
            turns::respond(listener);
            Ok(address)
        });
        match bound {
            Ok(address) => listening_addresses.push(address),
            Err(reason) => missing.push((address, reason.to_string())),
        }
    }
    NetObservation {
        missing,
        ..without_lookups("127.0.0.1 and ::1", &listening_addresses, rounds, step)
    }
}

/// Compares IPv4 with IPv6 between two network namespaces, which requires root and `ip`.
pub fn linked(rounds: u32, step: &mut (dyn FnMut(u32) + Send)) -> Result<NetObservation, String> {
    observe_pair(&NamespacePair::new()?, rounds, step)
}

/// Compares IPv4 with IPv6 as [`linked`] does, over an existing pair of namespaces.
pub fn observe_pair(
    pair: &NamespacePair,
    rounds: u32,
    step: &mut (dyn FnMut(u32) + Send),
) -> Result<NetObservation, String> {
    observe_namespaces(
        [&pair.client, &pair.server],
        NamespacePair::SERVER,
        rounds,
        step,
    )
}

/// Compares IPv4 with IPv6 from one namespace to another, which has an address of each family.
///
/// # Errors
///
/// Returns a message if a listener cannot be created.
pub fn observe_namespaces(
    [client, server]: [&Namespace; 2],
    addresses: [&str; 2],
    rounds: u32,
    step: &mut (dyn FnMut(u32) + Send),
) -> Result<NetObservation, String> {
    let listening = spaces::listen(server, addresses)?;
    client.run_inside(|| without_lookups("two namespaces", &listening, rounds, step))
}

/// Measures addresses of this machine in turns, without TLS and without lookups.
fn without_lookups(
    name: &str,
    addresses: &[SocketAddr],
    rounds: u32,
    step: &mut dyn FnMut(u32),
) -> NetObservation {
    let mut sides = first_addresses(addresses);
    let rounds = take_turns(&mut sides, "localhost", false, rounds, step);
    NetObservation {
        target: NetTarget {
            name: name.into(),
            port: 0,
            tls: false,
        },
        lookup_ns: None,
        sides: Ok(sides),
        missing: Vec::new(),
        rounds,
        tls: false,
        names: Default::default(),
    }
}

/// Returns the first address of each family.
fn first_addresses(addresses: &[SocketAddr]) -> Vec<AddressTurns> {
    let mut sides: Vec<AddressTurns> = Vec::new();
    for address in addresses {
        let family = IpFamily::from_address(address);
        if sides.iter().all(|side| side.family != family) {
            sides.push(AddressTurns::new(*address));
        }
    }
    sides
}

/// Builds the audit from the observations.
pub fn audit(observations: &[NetObservation], rules: &[Rule]) -> Audit {
    // Port 0 marks local listeners, which need no network.
    let is_local = |observation: &NetObservation| observation.target.port == 0;
    let network_answers = observations
        .iter()
        .filter(|observation| !is_local(observation))
        .any(has_response);
    let is_reachable = |observation: &NetObservation| {
        if is_local(observation) {
            has_response(observation)
        } else {
            network_answers
        }
    };
    let objects = observations
        .iter()
        .flat_map(|observation| objects(observation, is_reachable(observation)));
    let mut objects: Vec<AuditObject> = objects.collect();
    if observations
        .iter()
        .any(|observation| observation.target.port != 0)
    {
        objects.push(resolvers_object());
    }
    Audit {
        waivers: Vec::new(),
        expired_waivers: Vec::new(),
        kind: AuditKind::Net,
        targets: observations
            .iter()
            .map(|observation| observation.target.name.clone())
            .collect(),
        facts: facts(observations),
        findings: judge(rules, &objects, &CLASSES),
        tables: vec![steps_table(observations), ratio_table(observations)],
        chart: chart(observations),
    }
}

/// Returns true if any address responded, even by refusing the connection. Such a response proves
/// that the network works.
fn has_response(observation: &NetObservation) -> bool {
    let refused = observation
        .sides
        .iter()
        .flatten()
        .any(|side| side.refused > 0);
    let connected = |round: &NetTurn| round.time(NetStep::Connect).is_some();
    refused || observation.rounds.iter().any(connected)
}

/// Returns the objects that rules judge. `reached` is true if any address responded.
fn objects(observation: &NetObservation, reached: bool) -> Vec<AuditObject> {
    let mut objects = Vec::from_iter(name_object(observation));
    let Ok(sides) = &observation.sides else {
        return objects;
    };
    objects.extend(
        sides
            .iter()
            .map(|side| address_object(observation, side, reached)),
    );
    let missing = observation.missing.iter();
    objects.extend(missing.map(|(address, reason)| missing_address(observation, *address, reason)));
    objects.extend(pair_object(observation, sides));
    objects
}

/// Describes the name, unless the target is an address.
fn name_object(observation: &NetObservation) -> Option<AuditObject> {
    let mut name = AuditObject::new("name", &observation.target.name);
    name.set("lookup", Value::ns(observation.lookup_ns?));
    match &observation.sides {
        Ok(sides) => {
            let has = |family: IpFamily| sides.iter().any(|side| side.family == family);
            name.set("found", Value::Flag(!sides.is_empty()));
            name.set("ipv4", Value::Flag(has(IpFamily::V4)));
            name.set("ipv6", Value::Flag(has(IpFamily::V6)));
        }
        Err(reason) => {
            let reason = format!("The name could not be looked up: {reason}.");
            name.set_unknown(&["found", "ipv4", "ipv6"], &reason);
        }
    }
    Some(name)
}

/// Describes a loopback address that this machine lacks.
fn missing_address(observation: &NetObservation, address: IpAddr, reason: &str) -> AuditObject {
    let mut object = AuditObject::new(
        "address",
        format!("{} ({address})", observation.target.name),
    );
    let reason = format!("This machine does not have the address {address}: {reason}.");
    const NAMES: [&str; 5] = [
        "failed_share",
        "large_answered",
        "lost_share",
        "mtu",
        "larger",
    ];
    object.set_unknown(&NAMES, &reason);
    object
}

fn address_object(observation: &NetObservation, side: &AddressTurns, reached: bool) -> AuditObject {
    let mut object = AuditObject::new(
        "address",
        format!("{} ({})", observation.target.name, side.address.ip()),
    );
    object.set("family", Value::word(side.family.name()));
    let connects = times(observation, side.family, NetStep::Connect);
    let attempts = turn_count(observation, side.family);
    let unreachable = side
        .last_failure(NetStep::Connect)
        .filter(|_| connects.is_empty() && side.has_no_route);
    match unreachable {
        Some(reason) => {
            let reason = format!("This machine has no route to the address: {reason}.");
            object.set_unknown(&["failed_share", "large_answered"], &reason);
        }
        None if !reached => {
            let reason = "Nothing responded: the cause may be the network or the servers.";
            object.set_unknown(&["failed_share", "large_answered"], reason);
        }
        None => {
            let failed = attempts - connects.len();
            object.set(
                "failed_share",
                Value::fraction(failed as f64 / attempts.max(1) as f64),
            );
            object.set_some("large_answered", side.large_got_response.map(Value::Flag));
            object.set_some("small_answered", side.small_got_response.map(Value::Flag));
            set_failure(side, &mut object);
        }
    }
    set_later_failures(observation, side, connects.len(), &mut object);
    object.set_some("connect", median(&connects).map(Value::ns));
    set_round_trip(observation, side, &mut object);
    if observation.target.port != 0 {
        let reverse = &observation.names[side.family as usize].reverse;
        let named = |name: Option<String>| Value::Word(name.unwrap_or("none".into()));
        object.set_result("reverse", reverse.clone(), named);
    }
    set_mtu(side, &mut object);
    object
}

fn turn_count(observation: &NetObservation, family: IpFamily) -> usize {
    let turns = observation
        .rounds
        .iter()
        .filter(|round| round.family == family);
    turns.count()
}

/// Sets the kind and the duration of failed connections, if any connection failed.
fn set_failure(side: &AddressTurns, object: &mut AuditObject) {
    if let Some(after) = side.failed_after {
        object.set("failing", Value::word(side.failing()));
        object.set("failed_after", Value::ns(after.as_nanos() as f64));
    }
}

/// Sets the fraction of TLS handshakes that failed, and the fraction of requests that failed after a handshake.
fn set_later_failures(
    observation: &NetObservation,
    side: &AddressTurns,
    connected: usize,
    object: &mut AuditObject,
) {
    let failed_fraction = |attempts: usize, step| {
        let successes = times(observation, side.family, step).len();
        let fraction = (attempts - successes) as f64 / attempts.max(1) as f64;
        let reason = side.last_failure(step).filter(|_| fraction > 0.0);
        (successes, fraction, Value::word(reason.unwrap_or("none")))
    };
    let mut attempts = connected;
    if observation.tls && attempts > 0 {
        let (successes, fraction, reason) = failed_fraction(attempts, NetStep::Tls);
        let without_name =
            "The target is an address: a server that needs a name refuses the handshake.";
        let fraction = if fraction > 0.0 && observation.lookup_ns.is_none() {
            Value::Unknown(without_name.into())
        } else {
            Value::fraction(fraction)
        };
        object.set("tls_failed_share", fraction);
        object.set("tls_failure", reason);
        attempts = successes;
    }
    if attempts > 0 {
        let (_, fraction, reason) = failed_fraction(attempts, NetStep::FirstByte);
        object.set("unanswered_share", Value::fraction(fraction));
        object.set("unanswered", reason);
    }
}

/// Sets the MTU of the path to an address.
fn set_mtu(side: &AddressTurns, object: &mut AuditObject) {
    let (mtu, by) = match &side.path {
        Some(path) => (
            Some(path.mtu),
            "measured with echo requests of various sizes",
        ),
        None => (side.mtu, "according to this machine after a large request"),
    };
    object.set_some("mtu", mtu.map(|mtu| Value::count(mtu.into(), "bytes")));
    object.set("mtu_by", Value::word(by));
    let unknown = || match &side.echoes {
        Err(reason) => Value::Unknown(format!("{reason}.")),
        Ok(_) => Value::Unknown("The address does not reply to echo requests.".into()),
    };
    match &side.path {
        Some(path) => object.set("larger", Value::word(path.beyond.word())),
        None if side.address.ip().is_loopback() => object.set("larger", Value::word("not tried")),
        None => object.set("larger", unknown()),
    }
}

/// Describes the resolvers of this machine, and queries the resolvers that have an IPv6 address.
fn resolvers_object() -> AuditObject {
    let text = Root::live().text("etc/resolv.conf").unwrap_or_default();
    let resolvers = names::resolvers(&text);
    let mut object = AuditObject::new("resolvers", "/etc/resolv.conf");
    let texts: Vec<String> = resolvers.iter().map(ToString::to_string).collect();
    object.set("addresses", Value::Word(texts.join(", ")));
    let v6 = resolvers.iter().filter(|resolver| resolver.is_ipv6());
    let responses: Vec<Result<bool, String>> = v6.map(|r| names::responds(*r)).collect();
    let over_ipv6 = match responses.iter().find(|response| response.is_err()) {
        _ if resolvers.is_empty() => {
            Value::Unknown("/etc/resolv.conf contains no resolver.".into())
        }
        _ if responses.contains(&Ok(true)) => Value::Flag(true),
        Some(Err(reason)) => Value::Unknown(reason.clone()),
        _ => Value::Flag(false),
    };
    object.set("over_ipv6", over_ipv6);
    object
}

/// Sets the round-trip time, the fraction of lost echo requests and the number of hops.
///
/// The round-trip time comes from ICMP if the address replies, otherwise from TCP connection times.
fn set_round_trip(observation: &NetObservation, side: &AddressTurns, object: &mut AuditObject) {
    let echoes = times(observation, side.family, NetStep::Echo);
    let connects = times(observation, side.family, NetStep::Connect);
    let (median_ns, by) = match (echoes.is_empty(), &side.echoes) {
        (false, _) => (median(&echoes), "ICMP".to_owned()),
        (true, Ok(_)) => (median(&connects), "TCP: no reply over ICMP".to_owned()),
        (true, Err(reason)) => (median(&connects), format!("TCP: {reason}")),
    };
    object.set_some("round_trip", median_ns.map(Value::ns));
    object.set("round_trip_by", Value::Word(by));
    let lost = match &side.echoes {
        Err(reason) => Value::Unknown(format!("{reason}.")),
        Ok([_, 0]) => Value::Unknown("The address does not reply to echo requests.".into()),
        Ok([sent, replies]) => Value::fraction(f64::from(sent - replies) / f64::from(*sent)),
    };
    object.set("lost_share", lost);
    object.set_some(
        "hops",
        side.hops.map(|hops| Value::count(hops.into(), "routers")),
    );
}

/// Sets the value that shows whether both addresses belong to the same machine, judging by their
/// canonical and reverse names.
fn set_ends([v4, v6]: &[AddressNames; 2], object: &mut AuditObject) {
    let canonical = [v4, v6].map(|names| names.canonical.as_deref());
    let reverse = [v4, v6].map(AddressNames::reverse_name);
    let name_or_none = |name: Option<&str>| Value::word(name.unwrap_or("none"));
    object.set("canonical4", name_or_none(canonical[0]));
    object.set("canonical6", name_or_none(canonical[1]));
    object.set("reverse4", name_or_none(reverse[0]));
    object.set("reverse6", name_or_none(reverse[1]));
    let differ = |names: [Option<&str>; 2]| Some(names[0]? != names[1]?);
    let same_end = match (differ(canonical), differ(reverse)) {
        (Some(true), _) | (_, Some(true)) => Value::word("no"),
        (_, Some(false)) => Value::word("yes"),
        _ => Value::Unknown(
            "The addresses have no names, so it is unknown whether they are the same machine."
                .into(),
        ),
    };
    object.set("same_end", same_end);
}

/// Compares both families, if both were measured.
fn pair_object(observation: &NetObservation, sides: &[AddressTurns]) -> Option<AuditObject> {
    let [first, second] = sides else { return None };
    let mut object = AuditObject::new("pair", &observation.target.name);
    // For a name, the system defines which family is tried first. Plain addresses have no order.
    if observation.lookup_ns.is_some() {
        set_ends(&observation.names, &mut object);
        object.set("first", Value::word(first.family.name()));
        let medians =
            [first, second].map(|s| median(&times(observation, s.family, NetStep::Connect)));
        set_happy_eyeballs([first, second], medians, &mut object);
    }
    let medians_by_family = [IpFamily::V4, IpFamily::V6]
        .map(|family| median(&times(observation, family, NetStep::Connect)));
    object.set_some("connect4", medians_by_family[0].map(Value::ns));
    object.set_some("connect6", medians_by_family[1].map(Value::ns));
    let ratio = ratio(observation, NetStep::Connect);
    for (index, name) in ["ratio", "ratio_low", "ratio_high"].into_iter().enumerate() {
        let reason = "Fewer than six rounds have successful turns of both families.";
        let figure = ratio.map(|ratio| ratio[index]).ok_or(reason.into());
        object.set_result(name, figure, |n| Value::Number(n, Unit::Ratio));
    }
    Some(object)
}

/// Sets the family that Happy Eyeballs prefers, and the delay if that family is unreachable.
///
/// `times` are the median connection times in ns.
fn set_happy_eyeballs(
    [first, second]: [&AddressTurns; 2],
    times: [Option<f64>; 2],
    object: &mut AuditObject,
) {
    let delay = ATTEMPT_DELAY.as_nanos() as f64;
    let [first_name, second_name] = [first, second].map(|side| side.family.name());
    let (fails, taken) = match times {
        [None, None] => (Err("Neither family responds.".to_owned()), "neither"),
        [None, Some(_)] if first.has_no_route => {
            let reason = format!("This machine has no {first_name} route.");
            (Err(reason), second_name)
        }
        [None, Some(_)] => (Ok(true), second_name),
        [Some(one), Some(other)] if one > delay + other => (Ok(false), second_name),
        [Some(_), _] => (Ok(false), first_name),
    };
    object.set_result("first_fails", fails, Value::Flag);
    let failing = first.failed_after.map(|_| Value::word(first.failing()));
    object.set_some("first_failing", failing);
    object.set("taken", Value::word(taken));
    let wait_ns = first.failed_after.unwrap_or(ATTEMPT_DELAY);
    let wait_ns = wait_ns.min(ATTEMPT_DELAY).as_nanos() as f64;
    object.set("late", Value::ns(wait_ns));
    let reserve = match times {
        [Some(one), Some(other)] => format!(
            "If {first_name} were unreachable, a connection would take {} instead of {}.",
            Value::ns(delay + other).text(),
            Value::ns(one).text()
        ),
        [_, None] => format!("If {first_name} were unreachable, nothing would respond."),
        [None, Some(_)] => format!("{second_name} responds instead."),
    };
    object.set("reserve", Value::Word(reserve));
}

fn times(observation: &NetObservation, family: IpFamily, step: NetStep) -> Vec<f64> {
    let turns = observation
        .rounds
        .iter()
        .filter(|round| round.family == family);
    turns.filter_map(|round| round.time(step)).collect()
}

/// Returns the ratio of IPv6's time to IPv4's time with the bounds of its 95 % confidence interval.
/// At least six complete rounds are needed.
fn ratio(observation: &NetObservation, step: NetStep) -> Option<[f64; 3]> {
    let logs: Vec<f64> = observation
        .rounds
        .chunks(4)
        .filter_map(|turns| mirrored_log_ratio(turns, step))
        .collect();
    let center = center(&logs, 0.05).filter(|_| logs.len() >= 6)?;
    let interval = center.interval;
    Some([
        interval.estimate.exp(),
        interval.low.exp(),
        interval.high.exp(),
    ])
}

/// Formats the ratios: ` IPv6 / IPv4: 1.02 (0.99 to 1.05) for a.example.`
fn ratios(observations: &[NetObservation]) -> String {
    let parts = observations.iter().filter_map(|observation| {
        let number = |n| Value::Number(n, Unit::Ratio).text();
        let [ratio, low, high] = ratio(observation, NetStep::Connect)?.map(number);
        Some(format!(
            "{ratio} ({low} to {high}) for {}",
            observation.target.name
        ))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" IPv6 / IPv4: {}.", parts.join("; "))
    }
}

/// Returns the log ratio of a round: the mean log time of IPv6's two mirrored turns minus the mean
/// log time of IPv4's two turns.
fn mirrored_log_ratio(turns: &[NetTurn], step: NetStep) -> Option<f64> {
    let mean = |family: IpFamily| {
        let turns_of_family = turns.iter().filter(|turn| turn.family == family);
        let logs: Option<Vec<f64>> = turns_of_family
            .map(|turn| turn.time(step).map(f64::ln))
            .collect();
        let logs = logs.filter(|logs| logs.len() == 2)?;
        Some((logs[0] + logs[1]) / 2.0)
    };
    Some(mean(IpFamily::V6)? - mean(IpFamily::V4)?)
}

const STEPS: [NetStep; 5] = [
    NetStep::Lookup,
    NetStep::Echo,
    NetStep::Connect,
    NetStep::Tls,
    NetStep::FirstByte,
];

fn steps_table(observations: &[NetObservation]) -> EvidenceTable {
    let mut rows = Vec::new();
    for observation in observations {
        let steps = STEPS.into_iter();
        for step in steps.filter(|step| observation.tls || *step != NetStep::Tls) {
            let sides = observation.sides.iter().flatten();
            rows.extend(sides.filter_map(|side| step_row(observation, side, step)));
        }
    }
    EvidenceTable {
        title: "Times".into(),
        caption: "The time of each step, in mirrored turns: A, B, B, A for families A and B."
            .into(),
        columns: [
            "name", "step", "address", "count", "min", "25 %", "median", "75 %", "95 %", "max",
        ]
        .map(String::from)
        .into(),
        rows,
    }
}

/// Returns the table row with the quantiles of a step. Returns `None` for lookups and echo requests
/// that were not measured.
fn step_row(
    observation: &NetObservation,
    side: &AddressTurns,
    step: NetStep,
) -> Option<Vec<EvidenceValue>> {
    let mut times_ns = times(observation, side.family, step);
    if times_ns.is_empty() && matches!(step, NetStep::Lookup | NetStep::Echo) {
        return None;
    }
    times_ns.sort_by(f64::total_cmp);
    let last = times_ns.len().saturating_sub(1) as f64;
    let at = |part: f64| {
        let time = times_ns.get((last * part).round() as usize);
        time.map_or(EvidenceValue::Nothing, |ns| {
            EvidenceValue::Number(*ns, Unit::Nanoseconds)
        })
    };
    let word = |text: &str| EvidenceValue::Word(text.to_owned());
    let mut row = vec![
        word(&observation.target.name),
        word(step.name()),
        word(&side.address.ip().to_string()),
        EvidenceValue::Number(times_ns.len() as f64, Unit::Count("times".into())),
    ];
    row.extend([0.0, 0.25, 0.5, 0.75, 0.95, 1.0].map(at));
    Some(row)
}

fn ratio_table(observations: &[NetObservation]) -> EvidenceTable {
    let mut rows = Vec::new();
    for observation in observations {
        for step in STEPS {
            if let Some(ratio) = ratio(observation, step) {
                let mut row = vec![
                    EvidenceValue::Word(observation.target.name.clone()),
                    EvidenceValue::Word(step.name().into()),
                ];
                row.extend(ratio.map(|value| EvidenceValue::Number(value, Unit::Ratio)));
                rows.push(row);
            }
        }
    }
    EvidenceTable {
        title: "IPv6 / IPv4".into(),
        caption: "Hodges-Lehmann estimates over the mirrored turns, each with its own 95 % \
            confidence interval. A ratio below 1 means that IPv6 is faster. The ratio compares \
            paths and the machines at their ends. If the addresses lead to different machines, the \
            ratio says nothing about the protocols."
            .into(),
        columns: ["name", "step", "ratio", "low", "high"]
            .map(String::from)
            .into(),
        rows,
    }
}

/// Describes how the round trip was measured, and the result.
fn round_trip_text(observation: &NetObservation, side: &AddressTurns) -> String {
    let mut object = AuditObject::new("address", "");
    set_round_trip(observation, side, &mut object);
    let text = |name: &str| rule::value_text(object.values.get(name));
    let (time, by, hops) = (text("round_trip"), text("round_trip_by"), text("hops"));
    match side.hops {
        None => format!("{time} with {by}"),
        Some(1) => format!("{time} with {by}, 1 router on the way back"),
        Some(_) => format!("{time} with {by}, {hops} routers on the way back"),
    }
}

fn facts(observations: &[NetObservation]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for observation in observations {
        let lookup = observation.lookup_ns.map(|ns| Value::ns(ns).text());
        facts.extend(lookup.map(|time| (format!("lookup of {}", observation.target.name), time)));
        for side in observation.sides.iter().flatten() {
            let turns = turn_count(observation, side.family).to_string();
            facts.push((format!("turns of {}", side.address), turns));
            facts.push((
                format!("round trip of {}", side.address),
                round_trip_text(observation, side),
            ));
            if let Some(reason) = side.failure() {
                facts.push((
                    format!("last failure of {}", side.address),
                    reason.to_owned(),
                ));
            }
        }
    }
    facts
}

fn chart(observations: &[NetObservation]) -> Option<EvidenceBars> {
    let bars = observations.iter().flat_map(|observation| {
        let sides = observation.sides.iter().flatten();
        sides.filter_map(move |side| {
            let median_ns = median(&times(observation, side.family, NetStep::Connect))?;
            Some((
                format!("{} {}", observation.target.name, side.family.name()),
                median_ns,
            ))
        })
    });
    let rows: Vec<(String, f64)> = bars.take(12).collect();
    (!rows.is_empty()).then(|| EvidenceBars {
        title: "Time of a connection".into(),
        caption: format!("Medians.{}", ratios(observations)),
        axis: "time".into(),
        unit: Unit::Nanoseconds,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(canonical: Option<&str>, reverse: Option<&str>) -> AddressNames {
        AddressNames {
            canonical: canonical.map(str::to_owned),
            reverse: Ok(reverse.map(str::to_owned)),
        }
    }

    #[test]
    fn different_names_of_the_families_are_different_machines() {
        let same_end = |v4: AddressNames, v6: AddressNames| {
            let mut object = AuditObject::new("pair", "a.example");
            set_ends(&[v4, v6], &mut object);
            object.values["same_end"].text()
        };
        let alias_of = |alias| names(Some(alias), None);
        assert_eq!(
            same_end(alias_of("a.cdn.example"), alias_of("b.cdn.example")),
            "no"
        );
        // A shared canonical name can stand for one machine or for two.
        assert_eq!(
            same_end(alias_of("a.cdn.example"), alias_of("a.cdn.example")),
            "unknown"
        );
        let machine = |name| names(Some("a.cdn.example"), Some(name));
        assert_eq!(
            same_end(machine("one.example"), machine("two.example")),
            "no"
        );
        assert_eq!(
            same_end(machine("one.example"), machine("one.example")),
            "yes"
        );
        assert_eq!(same_end(names(None, None), names(None, None)), "unknown");
    }

    /// Returns three values of a pair: whether the first family fails, the family that is used, and
    /// the delay if the first family is unreachable.
    fn happy_eyeballs_values(
        times_ms: [Option<f64>; 2],
        change: impl Fn(&mut AddressTurns),
    ) -> [String; 3] {
        let side = |address: &str| AddressTurns::new(address.parse().expect("an address"));
        let (mut first, second) = (side("[2001:db8::1]:443"), side("192.0.2.1:443"));
        change(&mut first);
        let mut object = AuditObject::new("pair", "a.example");
        let times = times_ms.map(|ms| ms.map(|ms| ms * 1e6));
        set_happy_eyeballs([&first, &second], times, &mut object);
        ["first_fails", "taken", "reserve"].map(|name| object.values[name].text())
    }

    #[test]
    fn happy_eyeballs_prefers_the_first_family_unless_it_is_250_ms_slower() {
        let values = |times| happy_eyeballs_values(times, |_| {});
        let [fails, taken, reserve] = values([Some(11.0), Some(12.0)]);
        assert_eq!([&*fails, &*taken], ["no", "IPv6"]);
        let expected = "If IPv6 were unreachable, a connection would take 262 ms instead of 11 ms.";
        assert_eq!(reserve, expected);
        assert_eq!(values([Some(255.0), Some(10.0)])[1], "IPv6");
        assert_eq!(values([Some(265.0), Some(10.0)])[1], "IPv4");
        assert_eq!(values([None, Some(10.0)])[..2], ["yes", "IPv4"]);
        assert_eq!(values([Some(10.0), None])[..2], ["no", "IPv6"]);
        assert_eq!(values([None, None])[..2], ["unknown", "neither"]);
        let unreachable =
            happy_eyeballs_values([None, Some(10.0)], |side| side.has_no_route = true);
        assert_eq!(unreachable[..2], ["unknown", "IPv4"]);
    }
}
