// SPDX-License-Identifier: Apache-2.0
//! `audit net`: IPv4 against IPv6 to the same name, on pinned addresses, in mirrored turns; and on this machine alone.

mod family;
mod names;
mod path;
mod ping;
mod spaces;
mod turns;

use crate::judge::judge;
use crate::namespace::{Namespace, Pair};
use crate::root::Root;
use crate::rule::{self, Rule, RuleError};
use crate::value::{Class, Thing, Value};
pub use family::Family;
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use lab_stats::order::median;
use lab_stats::signed_rank::centre;
use names::Names;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};
pub use turns::{Round, Step};
use turns::{Side, take_turns};

/// How long Happy Eyeballs waits before it tries the second address (RFC 8305, section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The classes of things that a network has.
pub const CLASSES: [Class; 4] = [NAME, ADDRESS, PAIR, RESOLVERS];

const NAME: Class = Class {
    name: "name",
    none: "No name was given, only addresses.",
    values: &[
        ("lookup", "how long the lookup of the name took"),
        ("found", "whether the name has an address"),
        ("ipv4", "whether it has an IPv4 address"),
        ("ipv6", "whether it has an IPv6 address"),
    ],
};

const ADDRESS: Class = Class {
    name: "address",
    none: "No address was tried.",
    values: &[
        ("family", "IPv4 or IPv6"),
        ("connect", "median time of a connection"),
        ("failed_share", "part of the connections that failed"),
        ("failing", "how they failed: refused, or silent"),
        ("failed_after", "how long the last one took to fail"),
        (
            "tls_failed_share",
            "part of the handshakes of TLS that failed",
        ),
        ("tls_failure", "how the last one failed"),
        ("unanswered_share", "part of the requests without an answer"),
        ("unanswered", "how the last one ended"),
        ("round_trip", "median round trip"),
        ("round_trip_by", "ICMP, or a connection of TCP"),
        ("lost_share", "part of the echo requests that got no reply"),
        ("hops", "routers on the way back"),
        ("reverse", "what the address is called"),
        ("mtu", "the largest packet that comes through"),
        ("mtu_by", "how that was found"),
        (
            "larger",
            "what becomes of larger packets: refused, lost, or not tried",
        ),
        (
            "large_answered",
            "whether a request of more than one packet is answered",
        ),
        (
            "small_answered",
            "whether the same request is answered in small packets",
        ),
    ],
};

const PAIR: Class = Class {
    name: "pair",
    none: "No name has addresses of both families that answer.",
    values: &[
        ("ratio", "IPv6's time of a connection divided by IPv4's"),
        ("ratio_low", "lower bound of its interval"),
        ("ratio_high", "upper bound of its interval"),
        ("connect4", "median time of a connection over IPv4"),
        ("connect6", "median time of a connection over IPv6"),
        ("canonical4", "the name behind the aliases, for IPv4"),
        ("canonical6", "the name behind the aliases, for IPv6"),
        ("reverse4", "what the IPv4 address is called"),
        ("reverse6", "what the IPv6 address is called"),
        (
            "same_end",
            "whether both families lead to names that are the same",
        ),
        ("first", "the family that this system tries first"),
        ("taken", "the family that Happy Eyeballs takes"),
        (
            "first_fails",
            "whether the family that is tried first fails",
        ),
        ("first_failing", "how it fails: refused, or silent"),
        (
            "late",
            "how long Happy Eyeballs waits for a family that fails",
        ),
        ("reserve", "what it would cost if that family were dead"),
    ],
};

const RESOLVERS: Class = Class {
    name: "resolvers",
    none: "No name was looked up.",
    values: &[
        ("addresses", "those of /etc/resolv.conf"),
        ("over_ipv6", "whether one of them answers over IPv6"),
    ],
};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct NetTarget {
    /// A name or an address, as it was given.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// With TLS.
    pub tls: bool,
}

/// What was seen of a name.
pub struct NetObservation {
    asked: NetTarget,
    /// `None`: an address was given, of which there is nothing to look up.
    lookup_ns: Option<f64>,
    /// Of each family the first address, that which the system sorts first (RFC 6724) first; or why there is none.
    sides: Result<Vec<Side>, String>,
    /// Addresses of this machine that it does not have, with the reason.
    missing: Vec<(IpAddr, String)>,
    rounds: Vec<Round>,
    tls: bool,
    /// Of IPv4 and IPv6.
    names: [Names; 2],
}

/// The rules that are built in. Error: one is wrong, which a test rules out.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("net", &CLASSES)
}

/// Looks a name up and takes turns on its addresses. `step` is told how many rounds are done.
pub fn observe(asked: &NetTarget, rounds: u32, step: &mut dyn FnMut(u32)) -> NetObservation {
    let began = Instant::now();
    let found = names::addresses(&asked.name, asked.port);
    let is_name = asked.name.parse::<IpAddr>().is_err();
    let lookup_ns = is_name.then(|| began.elapsed().as_nanos() as f64);
    let sides = found.map(|all| {
        let sides = pinned(&all).into_iter();
        sides.map(|side| side.with_lookups(&asked.name)).collect()
    });
    let mut looked = NetObservation {
        asked: asked.clone(),
        lookup_ns,
        tls: asked.tls,
        rounds: Vec::new(),
        missing: Vec::new(),
        sides,
        names: Default::default(),
    };
    if let Ok(sides) = &mut looked.sides {
        for side in sides.iter() {
            let names = Names::of(&asked.name, side.address.ip(), side.family);
            looked.names[side.family as usize] = names;
        }
        looked.rounds = take_turns(sides, &asked.name, asked.tls, rounds, step);
    }
    looked
}

/// This machine alone: 127.0.0.1 against ::1, to listeners that answer at once. One that this machine does not have is
/// unknown.
pub fn local(rounds: u32, step: &mut dyn FnMut(u32)) -> NetObservation {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    for address in both {
        let listening = TcpListener::bind((address, 0)).and_then(|listener| {
            let there = listener.local_addr()?;
            turns::answer(listener);
            Ok(there)
        });
        match listening {
            Ok(address) => there.push(address),
            Err(why) => missing.push((address, why.to_string())),
        }
    }
    NetObservation {
        missing,
        ..alone("127.0.0.1 and ::1", &there, rounds, step)
    }
}

/// Two network namespaces with a link between them. Error: it takes root and `ip`.
pub fn linked(rounds: u32, step: &mut (dyn FnMut(u32) + Send)) -> Result<NetObservation, String> {
    over(&Pair::new()?, rounds, step)
}

/// The same over a pair that is there.
pub fn over(
    pair: &Pair,
    rounds: u32,
    step: &mut (dyn FnMut(u32) + Send),
) -> Result<NetObservation, String> {
    between([&pair.client, &pair.server], Pair::SERVER, rounds, step)
}

/// From one namespace to another one, which has an IPv4 and an IPv6 address.
///
/// # Errors
/// No listener could be made there; in words.
pub fn between(
    [client, server]: [&Namespace; 2],
    addresses: [&str; 2],
    rounds: u32,
    step: &mut (dyn FnMut(u32) + Send),
) -> Result<NetObservation, String> {
    let listening = spaces::listen(server, addresses)?;
    client.within(|| alone("two namespaces", &listening, rounds, step))
}

/// Addresses of this machine, without TLS and without names.
fn alone(
    name: &str,
    addresses: &[SocketAddr],
    rounds: u32,
    step: &mut dyn FnMut(u32),
) -> NetObservation {
    let mut sides = pinned(addresses);
    let rounds = take_turns(&mut sides, "localhost", false, rounds, step);
    NetObservation {
        asked: NetTarget {
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

/// The first address of each family.
fn pinned(addresses: &[SocketAddr]) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::new();
    for address in addresses {
        let family = Family::of(address);
        if sides.iter().all(|side| side.family != family) {
            sides.push(Side::new(*address));
        }
    }
    sides
}

/// The audit of what was seen.
pub fn audit(all: &[NetObservation], rules: &[Rule]) -> Audit {
    // This machine's own listeners answer without a network.
    let is_here = |looked: &NetObservation| looked.asked.port == 0;
    let beyond = all.iter().filter(|l| !is_here(l)).any(reached);
    let reached = |looked: &NetObservation| {
        if is_here(looked) {
            reached(looked)
        } else {
            beyond
        }
    };
    let things = all.iter().flat_map(|l| things(l, reached(l)));
    let mut things: Vec<Thing> = things.collect();
    if all.iter().any(|looked| looked.asked.port != 0) {
        things.push(resolvers());
    }
    Audit {
        kind: AuditKind::Net,
        targets: all.iter().map(|looked| looked.asked.name.clone()).collect(),
        facts: facts(all),
        findings: judge(rules, &things, &CLASSES),
        tables: vec![steps_table(all), ratio_table(all)],
        chart: chart(all),
    }
}

/// Whether anybody answered, if only to refuse: then there is a network.
fn reached(looked: &NetObservation) -> bool {
    let refused = looked.sides.iter().flatten().any(|side| side.refused > 0);
    let connected = |round: &Round| round.time(Step::Connect).is_some();
    refused || looked.rounds.iter().any(connected)
}

/// `reached`: whether anybody answered at all.
fn things(looked: &NetObservation, reached: bool) -> Vec<Thing> {
    let mut things = Vec::from_iter(name(looked));
    let Ok(sides) = &looked.sides else {
        return things;
    };
    things.extend(sides.iter().map(|side| address(looked, side, reached)));
    let missing = looked.missing.iter();
    things.extend(missing.map(|(address, why)| away(looked, *address, why)));
    things.extend(pair(looked, sides));
    things
}

/// The name, unless an address was given.
fn name(looked: &NetObservation) -> Option<Thing> {
    let mut name = Thing::new("name", &looked.asked.name);
    name.set("lookup", Value::ns(looked.lookup_ns?));
    match &looked.sides {
        Ok(sides) => {
            let has = |family: Family| sides.iter().any(|side| side.family == family);
            name.set("found", Value::Flag(!sides.is_empty()));
            name.set("ipv4", Value::Flag(has(Family::V4)));
            name.set("ipv6", Value::Flag(has(Family::V6)));
        }
        Err(why) => {
            let why = format!("The name could not be looked up: {why}.");
            for value in ["found", "ipv4", "ipv6"] {
                name.set(value, Value::Unknown(why.clone()));
            }
        }
    }
    Some(name)
}

/// An address that this machine should have, and does not.
fn away(looked: &NetObservation, address: IpAddr, why: &str) -> Thing {
    let mut thing = Thing::new("address", format!("{} ({address})", looked.asked.name));
    let why = format!("This machine does not have {address}: {why}.");
    for value in [
        "failed_share",
        "large_answered",
        "lost_share",
        "mtu",
        "larger",
    ] {
        thing.set(value, Value::Unknown(why.clone()));
    }
    thing
}

fn address(looked: &NetObservation, side: &Side, reached: bool) -> Thing {
    let mut thing = Thing::new(
        "address",
        format!("{} ({})", looked.asked.name, side.address.ip()),
    );
    thing.set("family", Value::word(side.family.name()));
    let connects = times(looked, side.family, Step::Connect);
    let tried = turns_of(looked, side.family);
    let unreachable = side
        .last_failure(Step::Connect)
        .filter(|_| connects.is_empty() && side.no_route);
    match unreachable {
        Some(why) => {
            let why = Value::Unknown(format!("This machine has no way there: {why}."));
            thing.set("failed_share", why.clone());
            thing.set("large_answered", why);
        }
        None if !reached => {
            let why = "Nobody answered: whether it is the network or the servers is not known.";
            thing.set("failed_share", Value::Unknown(why.into()));
            thing.set("large_answered", Value::Unknown(why.into()));
        }
        None => {
            let failed = tried - connects.len();
            thing.set(
                "failed_share",
                Value::share(failed as f64 / tried.max(1) as f64),
            );
            thing.set_some("large_answered", side.large_answered.map(Value::Flag));
            thing.set_some("small_answered", side.small_answered.map(Value::Flag));
            failing(side, &mut thing);
        }
    }
    beyond_connection(looked, side, connects.len(), &mut thing);
    thing.set_some("connect", median(&connects).map(Value::ns));
    round_trip(looked, side, &mut thing);
    if looked.asked.port != 0 {
        let reverse = &looked.names[side.family as usize].reverse;
        let named = |name: Option<String>| Value::Word(name.unwrap_or("none".into()));
        thing.set("reverse", Value::seen(reverse.clone(), named));
    }
    largest(side, &mut thing);
    thing
}

fn turns_of(looked: &NetObservation, family: Family) -> usize {
    let of = looked.rounds.iter().filter(|round| round.family == family);
    of.count()
}

/// How connections failed, where some did.
fn failing(side: &Side, thing: &mut Thing) {
    if let Some(after) = side.failed_after {
        thing.set("failing", Value::word(side.failing()));
        thing.set("failed_after", Value::ns(after.as_nanos() as f64));
    }
}

/// Which part of the handshakes failed, and of the requests after them, where there were any.
fn beyond_connection(looked: &NetObservation, side: &Side, connected: usize, thing: &mut Thing) {
    let failed = |begun: usize, step| {
        let done = times(looked, side.family, step).len();
        let share = (begun - done) as f64 / begun.max(1) as f64;
        let why = side.last_failure(step).filter(|_| share > 0.0);
        (done, share, Value::word(why.unwrap_or("none")))
    };
    let mut begun = connected;
    if looked.tls && begun > 0 {
        let (done, share, why) = failed(begun, Step::Tls);
        let unnamed = "An address was asked: a server that needs a name refuses that.";
        let share = if share > 0.0 && looked.lookup_ns.is_none() {
            Value::Unknown(unnamed.into())
        } else {
            Value::share(share)
        };
        thing.set("tls_failed_share", share);
        thing.set("tls_failure", why);
        begun = done;
    }
    if begun > 0 {
        let (_, share, why) = failed(begun, Step::FirstByte);
        thing.set("unanswered_share", Value::share(share));
        thing.set("unanswered", why);
    }
}

/// How large packets may be on the way to an address.
fn largest(side: &Side, thing: &mut Thing) {
    let (mtu, by) = match &side.path {
        Some(path) => (Some(path.mtu), "by echo requests of many sizes"),
        None => (side.mtu, "as this machine knows it after a large request"),
    };
    thing.set_some("mtu", mtu.map(|mtu| Value::count(mtu.into(), "bytes")));
    thing.set("mtu_by", Value::word(by));
    let unseen = || match &side.echoes {
        Err(why) => Value::Unknown(format!("{why}.")),
        Ok(_) => Value::Unknown("Echo requests are not answered.".into()),
    };
    match &side.path {
        Some(path) => thing.set("larger", Value::word(path.beyond.word())),
        None if side.address.ip().is_loopback() => thing.set("larger", Value::word("not tried")),
        None => thing.set("larger", unseen()),
    }
}

/// The resolvers of this machine. Each that has an IPv6 address is asked.
fn resolvers() -> Thing {
    let text = Root::live().text("etc/resolv.conf").unwrap_or_default();
    let all = names::resolvers(&text);
    let mut thing = Thing::new("resolvers", "/etc/resolv.conf");
    let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
    thing.set("addresses", Value::Word(shown.join(", ")));
    let v6 = all.iter().filter(|resolver| resolver.is_ipv6());
    let answers: Vec<Result<bool, String>> = v6.map(|r| names::answers(*r)).collect();
    let over_ipv6 = match answers.iter().find(|answer| answer.is_err()) {
        _ if all.is_empty() => Value::Unknown("/etc/resolv.conf names no resolver.".into()),
        _ if answers.contains(&Ok(true)) => Value::Flag(true),
        Some(Err(why)) => Value::Unknown(why.clone()),
        _ => Value::Flag(false),
    };
    thing.set("over_ipv6", over_ipv6);
    thing
}

/// The round trip by ICMP if it is answered, else that of TCP's connection; and what ICMP tells besides.
fn round_trip(looked: &NetObservation, side: &Side, thing: &mut Thing) {
    let echoes = times(looked, side.family, Step::Echo);
    let connects = times(looked, side.family, Step::Connect);
    let (found, by) = match (echoes.is_empty(), &side.echoes) {
        (false, _) => (median(&echoes), "ICMP".to_owned()),
        (true, Ok(_)) => (median(&connects), "TCP: no reply over ICMP".to_owned()),
        (true, Err(why)) => (median(&connects), format!("TCP: {why}")),
    };
    thing.set_some("round_trip", found.map(Value::ns));
    thing.set("round_trip_by", Value::Word(by));
    let lost = match &side.echoes {
        Err(why) => Value::Unknown(format!("{why}.")),
        Ok([_, 0]) => Value::Unknown("Echo requests are not answered.".into()),
        Ok([sent, answered]) => Value::share(f64::from(sent - answered) / f64::from(*sent)),
    };
    thing.set("lost_share", lost);
    thing.set_some(
        "hops",
        side.hops.map(|hops| Value::count(hops.into(), "routers")),
    );
}

/// Whether the names behind both families are the same, as far as there are names.
fn ends([v4, v6]: &[Names; 2], thing: &mut Thing) {
    let canonical = [v4, v6].map(|names| names.canonical.as_deref());
    let reverse = [v4, v6].map(Names::reversed);
    let told = |name: Option<&str>| Value::word(name.unwrap_or("none"));
    thing.set("canonical4", told(canonical[0]));
    thing.set("canonical6", told(canonical[1]));
    thing.set("reverse4", told(reverse[0]));
    thing.set("reverse6", told(reverse[1]));
    let differ = |names: [Option<&str>; 2]| Some(names[0]? != names[1]?);
    let same = match (differ(canonical), differ(reverse)) {
        (Some(true), _) | (_, Some(true)) => Value::word("no"),
        (_, Some(false)) => Value::word("yes"),
        _ => Value::Unknown(
            "The addresses have no names: whether they are one machine is not known.".into(),
        ),
    };
    thing.set("same_end", same);
}

/// Both families, where both were tried.
fn pair(looked: &NetObservation, sides: &[Side]) -> Option<Thing> {
    let [first, second] = sides else { return None };
    let mut thing = Thing::new("pair", &looked.asked.name);
    // Of a name the system says which family it tries first; addresses alone have no order.
    if looked.lookup_ns.is_some() {
        ends(&looked.names, &mut thing);
        thing.set("first", Value::word(first.family.name()));
        let medians = [first, second].map(|s| median(&times(looked, s.family, Step::Connect)));
        happy_eyeballs([first, second], medians, &mut thing);
    }
    let both = [Family::V4, Family::V6].map(|family| median(&times(looked, family, Step::Connect)));
    thing.set_some("connect4", both[0].map(Value::ns));
    thing.set_some("connect6", both[1].map(Value::ns));
    let ratio = ratio(looked, Step::Connect);
    for (at, name) in ["ratio", "ratio_low", "ratio_high"].into_iter().enumerate() {
        let why = "Fewer than six rounds have turns of both families that succeeded.";
        let found = ratio.map(|ratio| ratio[at]).ok_or(why.into());
        thing.set(name, Value::seen(found, |n| Value::Number(n, Unit::Ratio)));
    }
    Some(thing)
}

/// Which family Happy Eyeballs takes, and what it costs if the first one is dead; `times`: medians of connections in ns.
fn happy_eyeballs([first, second]: [&Side; 2], times: [Option<f64>; 2], thing: &mut Thing) {
    let delay = ATTEMPT_DELAY.as_nanos() as f64;
    let [first_name, second_name] = [first, second].map(|side| side.family.name());
    let (fails, taken) = match times {
        [None, None] => (Err("Neither family answers.".to_owned()), "neither"),
        [None, Some(_)] if first.no_route => {
            let why = format!("This machine has no way to {first_name} itself.");
            (Err(why), second_name)
        }
        [None, Some(_)] => (Ok(true), second_name),
        [Some(one), Some(other)] if one > delay + other => (Ok(false), second_name),
        [Some(_), _] => (Ok(false), first_name),
    };
    thing.set("first_fails", Value::seen(fails, Value::Flag));
    let failing = first.failed_after.map(|_| Value::word(first.failing()));
    thing.set_some("first_failing", failing);
    thing.set("taken", Value::word(taken));
    let waited = first.failed_after.unwrap_or(ATTEMPT_DELAY);
    let waited = waited.min(ATTEMPT_DELAY).as_nanos() as f64;
    thing.set("late", Value::ns(waited));
    let reserve = match times {
        [Some(one), Some(other)] => format!(
            "If {first_name} were dead, a connection would take {} in place of {}.",
            Value::ns(delay + other).text(),
            Value::ns(one).text()
        ),
        [_, None] => format!("If {first_name} were dead, nothing would answer."),
        [None, Some(_)] => format!("{second_name} answers in its place."),
    };
    thing.set("reserve", Value::Word(reserve));
}

fn times(looked: &NetObservation, family: Family, step: Step) -> Vec<f64> {
    let of = looked.rounds.iter().filter(|round| round.family == family);
    of.filter_map(|round| round.time(step)).collect()
}

/// IPv6's time divided by IPv4's: estimate, bounds at 95 %, over mirrored pairs of turns.
fn ratio(looked: &NetObservation, step: Step) -> Option<[f64; 3]> {
    let logs: Vec<f64> = looked
        .rounds
        .chunks(4)
        .filter_map(|turns| mirrored(turns, step))
        .collect();
    let centre = centre(&logs, 0.05).filter(|_| logs.len() >= 6)?;
    let interval = centre.interval;
    Some([
        interval.estimate.exp(),
        interval.low.exp(),
        interval.high.exp(),
    ])
}

/// ` IPv6 / IPv4: 1.02 (0.99 to 1.05) for a.example.`
fn ratios(all: &[NetObservation]) -> String {
    let told = all.iter().filter_map(|looked| {
        let number = |n| Value::Number(n, Unit::Ratio).text();
        let [ratio, low, high] = ratio(looked, Step::Connect)?.map(number);
        Some(format!(
            "{ratio} ({low} to {high}) for {}",
            looked.asked.name
        ))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" IPv6 / IPv4: {}.", told.join("; "))
    }
}

/// The mean log ratio of a turn of each and a turn of each the other way round.
fn mirrored(turns: &[Round], step: Step) -> Option<f64> {
    let mean = |family: Family| {
        let of = turns.iter().filter(|turn| turn.family == family);
        let logs: Option<Vec<f64>> = of.map(|turn| turn.time(step).map(f64::ln)).collect();
        let logs = logs.filter(|logs| logs.len() == 2)?;
        Some((logs[0] + logs[1]) / 2.0)
    };
    Some(mean(Family::V6)? - mean(Family::V4)?)
}

const STEPS: [Step; 5] = [
    Step::Lookup,
    Step::Echo,
    Step::Connect,
    Step::Tls,
    Step::FirstByte,
];

fn steps_table(all: &[NetObservation]) -> EvidenceTable {
    let mut rows = Vec::new();
    for looked in all {
        let steps = STEPS.into_iter();
        for step in steps.filter(|step| looked.tls || *step != Step::Tls) {
            let sides = looked.sides.iter().flatten();
            rows.extend(sides.filter_map(|side| step_row(looked, side, step)));
        }
    }
    EvidenceTable {
        title: "Times".into(),
        caption: "Each step alone, in turns that are mirrored: one family, the other, the other, the one.".into(),
        columns: ["name", "step", "address", "taken", "least", "25 %", "median", "75 %", "95 %", "most"].map(String::from).into(),
        rows,
    }
}

/// The quantiles of a step; `None`: it was not taken.
fn step_row(looked: &NetObservation, side: &Side, step: Step) -> Option<Vec<EvidenceValue>> {
    let mut found = times(looked, side.family, step);
    if found.is_empty() && matches!(step, Step::Lookup | Step::Echo) {
        return None;
    }
    found.sort_by(f64::total_cmp);
    let last = found.len().saturating_sub(1) as f64;
    let at = |part: f64| {
        let time = found.get((last * part).round() as usize);
        time.map_or(EvidenceValue::Nothing, |ns| {
            EvidenceValue::Number(*ns, Unit::Nanoseconds)
        })
    };
    let word = |text: &str| EvidenceValue::Word(text.to_owned());
    let mut row = vec![
        word(&looked.asked.name),
        word(step.name()),
        word(&side.address.ip().to_string()),
        EvidenceValue::Number(found.len() as f64, Unit::Count("times".into())),
    ];
    row.extend([0.0, 0.25, 0.5, 0.75, 0.95, 1.0].map(at));
    Some(row)
}

fn ratio_table(all: &[NetObservation]) -> EvidenceTable {
    let mut rows = Vec::new();
    for looked in all {
        for step in STEPS {
            if let Some(ratio) = ratio(looked, step) {
                let mut row = vec![
                    EvidenceValue::Word(looked.asked.name.clone()),
                    EvidenceValue::Word(step.name().into()),
                ];
                row.extend(ratio.map(|value| EvidenceValue::Number(value, Unit::Ratio)));
                rows.push(row);
            }
        }
    }
    EvidenceTable {
        title: "IPv6 / IPv4".into(),
        caption: "Hodges-Lehmann estimates over the mirrored turns, with intervals at 95 % each. Below 1, IPv6 is faster. The \
                  ratio is of the ways and of what stands at their ends: where the ends are not the same machine, it says nothing of the protocol."
            .into(),
        columns: ["name", "step", "ratio", "low", "high"].map(String::from).into(),
        rows,
    }
}

/// How the round trip was measured, and what it showed.
fn by(looked: &NetObservation, side: &Side) -> String {
    let mut thing = Thing::new("address", "");
    round_trip(looked, side, &mut thing);
    let text = |name: &str| rule::value_text(thing.values.get(name));
    let (time, by, hops) = (text("round_trip"), text("round_trip_by"), text("hops"));
    match side.hops {
        None => format!("{time} by {by}"),
        Some(1) => format!("{time} by {by}, 1 router on the way back"),
        Some(_) => format!("{time} by {by}, {hops} routers on the way back"),
    }
}

fn facts(all: &[NetObservation]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for looked in all {
        let lookup = looked.lookup_ns.map(|ns| Value::ns(ns).text());
        facts.extend(lookup.map(|time| (format!("lookup of {}", looked.asked.name), time)));
        for side in looked.sides.iter().flatten() {
            let turns = turns_of(looked, side.family).to_string();
            facts.push((format!("turns of {}", side.address), turns));
            facts.push((format!("round trip of {}", side.address), by(looked, side)));
            if let Some(why) = side.failure() {
                facts.push((format!("last failure of {}", side.address), why.to_owned()));
            }
        }
    }
    facts
}

fn chart(all: &[NetObservation]) -> Option<EvidenceBars> {
    let bars = all.iter().flat_map(|looked| {
        let sides = looked.sides.iter().flatten();
        sides.filter_map(move |side| {
            let middle = median(&times(looked, side.family, Step::Connect))?;
            Some((
                format!("{} {}", looked.asked.name, side.family.name()),
                middle,
            ))
        })
    });
    let rows: Vec<(String, f64)> = bars.take(12).collect();
    (!rows.is_empty()).then(|| EvidenceBars {
        title: "Time of a connection".into(),
        caption: format!("Medians.{}", ratios(all)),
        axis: "time".into(),
        unit: Unit::Nanoseconds,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(canonical: Option<&str>, reverse: Option<&str>) -> Names {
        Names {
            canonical: canonical.map(str::to_owned),
            reverse: Ok(reverse.map(str::to_owned)),
        }
    }

    #[test]
    fn other_names_behind_the_families_are_other_ends() {
        let same = |v4: Names, v6: Names| {
            let mut thing = Thing::new("pair", "a.example");
            ends(&[v4, v6], &mut thing);
            thing.values["same_end"].text()
        };
        let of = |alias| names(Some(alias), None);
        assert_eq!(same(of("a.cdn.example"), of("b.cdn.example")), "no");
        // Behind one alias may be one machine or two.
        assert_eq!(same(of("a.cdn.example"), of("a.cdn.example")), "unknown");
        let machine = |name| names(Some("a.cdn.example"), Some(name));
        assert_eq!(same(machine("one.example"), machine("two.example")), "no");
        assert_eq!(same(machine("one.example"), machine("one.example")), "yes");
        assert_eq!(same(names(None, None), names(None, None)), "unknown");
    }

    /// Of IPv6 first: whether it fails, which family is taken, and what it costs if it is dead.
    fn eyes(times_ms: [Option<f64>; 2], change: impl Fn(&mut Side)) -> [String; 3] {
        let side = |address: &str| Side::new(address.parse().expect("an address"));
        let (mut first, second) = (side("[2001:db8::1]:443"), side("192.0.2.1:443"));
        change(&mut first);
        let mut thing = Thing::new("pair", "a.example");
        let times = times_ms.map(|ms| ms.map(|ms| ms * 1e6));
        happy_eyeballs([&first, &second], times, &mut thing);
        ["first_fails", "taken", "reserve"].map(|name| thing.values[name].text())
    }

    #[test]
    fn happy_eyeballs_takes_the_first_family_unless_it_is_a_quarter_of_a_second_later() {
        let of = |times| eyes(times, |_| {});
        let [fails, taken, reserve] = of([Some(11.0), Some(12.0)]);
        assert_eq!([&*fails, &*taken], ["no", "IPv6"]);
        let wanted = "If IPv6 were dead, a connection would take 262 ms in place of 11 ms.";
        assert_eq!(reserve, wanted);
        assert_eq!(of([Some(255.0), Some(10.0)])[1], "IPv6");
        assert_eq!(of([Some(265.0), Some(10.0)])[1], "IPv4");
        assert_eq!(of([None, Some(10.0)])[..2], ["yes", "IPv4"]);
        assert_eq!(of([Some(10.0), None])[..2], ["no", "IPv6"]);
        assert_eq!(of([None, None])[..2], ["unknown", "neither"]);
        let no_way = eyes([None, Some(10.0)], |side| side.no_route = true);
        assert_eq!(no_way[..2], ["unknown", "IPv4"]);
    }
}
