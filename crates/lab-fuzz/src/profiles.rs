// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for files written by Valgrind's tools, and for conditions on a profile.

use lab_profile::{GateCondition, Profile, Sources, explain};
use lab_valgrind::{
    CostProfile, Frame, Massif, churn, clean, read_cachegrind, read_callgrind, read_dhat,
    read_massif,
};
use std::sync::LazyLock;

/// Parses a Cachegrind file.
pub fn cachegrind(bytes: &[u8]) {
    if let Ok(costs) = read_cachegrind(bytes) {
        check_costs(&costs);
        check_profile(Profile {
            cachegrind: Some(costs),
            ..Profile::default()
        });
    }
}

/// Parses a Callgrind file.
pub fn callgrind(bytes: &[u8]) {
    if let Ok(costs) = read_callgrind(bytes) {
        check_costs(&costs);
        for event in &costs.events {
            costs.stacks(event);
        }
        costs.unnamed();
        costs.objects();
        check_profile(Profile {
            callgrind: Some(costs),
            ..Profile::default()
        });
    }
}

/// Parses a Massif file.
pub fn massif(bytes: &[u8]) {
    if let Ok(massif) = read_massif(bytes) {
        let (teeth, fall) = massif.sawtooth();
        assert!(teeth <= massif.snapshots.len());
        assert!(fall <= massif.peak_bytes());
        check_profile(Profile {
            massif: Some(massif),
            ..Profile::default()
        });
    }
}

/// Parses a DHAT file.
pub fn dhat(bytes: &[u8]) {
    if let Ok(dhat) = read_dhat(bytes) {
        for point in &dhat.points {
            dhat.site(point);
            dhat.short_lived_bytes(point);
            assert!(point.unread_bytes() <= point.written_bytes);
        }
        check_profile(Profile {
            dhat: Some(dhat),
            ..Profile::default()
        });
    }
}

/// Parses a condition of `profile --fail-if` and a location in a program.
pub fn profile_condition(bytes: &[u8]) {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile {
        massif: Some(Massif::default()),
        ..Profile::default()
    });
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let frame = Frame::parse(text);
    frame.location();
    frame.is_allocator();
    let short = clean(text);
    assert_eq!(
        clean(short),
        short,
        "a shortened name can be shortened further"
    );
    if let Ok(condition) = text.parse::<GateCondition>() {
        assert_eq!(condition.to_string().parse(), Ok(condition.clone()));
        condition.judge(&PROFILE, None);
        condition.judge(&PROFILE, Some(&PROFILE));
    }
}

fn check_costs(costs: &CostProfile) {
    let sum = costs.summed();
    let mut lines = vec![0_u64; costs.events.len()];
    for line in costs.lines() {
        for (total, cost) in lines.iter_mut().zip(line.costs) {
            *total = total.saturating_add(*cost);
        }
    }
    assert_eq!(
        sum, lines,
        "the costs of functions differ from those of their lines"
    );
    for event in &costs.events {
        let hottest = costs.hottest(event, 10);
        let cost = |index: usize| costs.value(event, &hottest[index].costs);
        assert!((1..hottest.len()).all(|index| cost(index - 1) >= cost(index)));
    }
}

fn check_profile(profile: Profile) {
    explain(&profile);
    if let Some(dhat) = &profile.dhat {
        churn(dhat);
    }
    Sources::read_with(&profile, |_| Some("int main() {}\n".into()));
    profile.command();
    for name in ["peak", "total", "allocations", "D1"] {
        profile.figure(name);
    }
}
