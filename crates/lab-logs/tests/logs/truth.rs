// SPDX-License-Identifier: Apache-2.0
//! Checks the analysis on logs with known ground truth. Effects are found, and false alarms stay
//! within the promised rate.

use crate::support::{MONDAY, Random, page, weeks};
use lab_logs::analysis::between::match_pages;
use lab_logs::analysis::changes::changes;
use lab_logs::analysis::pareto::ranking;
use lab_logs::analysis::week::{slots, spikes};
use lab_model::{LogAnalysis, LogCell, LogHour, LogPage, PageKind};

/// The number of logs in a test.
const LOGS: usize = 300;
/// The maximum number of false alarms in a test: 5 % of the logs plus three standard errors.
const ALARMS: usize = 15 + 12;

#[test]
fn logs_without_spikes_have_none() {
    let alarmed = (0..LOGS).filter(|seed| {
        let mut random = Random(*seed as u64);
        let busiest = 40.0 * 10_f64.powf(3.0 * random.part());
        let spikes = spikes(&weeks(&mut random, 5, busiest, |_| 1.0));
        assert_eq!((spikes.weeks, spikes.tested), (5, 5 * 168));
        !spikes.single.is_empty() || !spikes.weekly.is_empty()
    });
    let alarmed = alarmed.count();
    assert!(alarmed <= ALARMS, "{alarmed} of {LOGS} logs");
}

#[test]
fn spikes_are_found() {
    // Wednesday 14:00 of the third week.
    let at = 2 * 168 + 2 * 24 + 14;
    let found = (0..100).filter(|seed| {
        let mut random = Random(*seed);
        let found = spikes(&weeks(&mut random, 6, 5_000.0, |hour| {
            if hour == at { 2.5 } else { 1.0 }
        }));
        let right = found.single.iter().any(|s| {
            s.start_s == MONDAY + at as i64 * 3600 && s.ratio.low < 2.5 && 2.5 < s.ratio.high
        });
        right && found.single.len() == 1 && found.weekly.is_empty()
    });
    assert!(found.count() >= 90);
}

#[test]
fn a_spike_every_tuesday_is_one_weekly_spike() {
    let found = (0..50).filter(|seed| {
        let mut random = Random(*seed);
        let is_spike = |hour: usize| hour / 24 % 7 == 1 && hour % 24 == 9;
        let found = spikes(&weeks(&mut random, 6, 3_000.0, |hour| {
            if is_spike(hour) { 3.0 } else { 1.0 }
        }));
        let slots: Vec<(usize, usize)> = found.weekly.iter().map(|w| (w.weekday, w.hour)).collect();
        slots == [(1, 9)] && found.single.is_empty()
    });
    assert!(found.count() >= 45);
}

#[test]
fn a_spike_every_tuesday_is_named_from_two_weeks_on() {
    let found = (0..50).filter(|seed| {
        let mut random = Random(*seed);
        let is_spike = |hour: usize| hour / 24 % 7 == 1 && hour % 24 == 9;
        let mut log = weeks(&mut random, 2, 3_000.0, |hour| {
            if is_spike(hour) { 4.0 } else { 1.0 }
        });
        // The log begins shortly after Monday 0:00 and ends before Monday 0:00.
        let last = log.hours.len() - 1;
        log.hours = log.hours[1..last].to_vec();
        let found = spikes(&log);
        assert_eq!((found.weeks, found.tested), (2, 0));
        let slots: Vec<(usize, usize)> = found.weekly.iter().map(|w| (w.weekday, w.hour)).collect();
        slots == [(1, 9)] && found.single.is_empty()
    });
    assert!(found.count() >= 45);
}

#[test]
fn in_two_weeks_chance_and_single_spikes_are_not_weekly() {
    let alarmed = (0..LOGS).filter(|seed| {
        let mut random = Random(*seed as u64);
        let busiest = 40.0 * 10_f64.powf(3.0 * random.part());
        let found = spikes(&weeks(&mut random, 2, busiest, |hour| {
            if hour == 38 { 9.0 } else { 1.0 }
        }));
        !found.single.is_empty() || !found.weekly.is_empty()
    });
    let alarmed = alarmed.count();
    assert!(alarmed <= ALARMS, "{alarmed} of {LOGS} logs");
}

#[test]
fn too_few_weeks_show_no_spikes() {
    let found = spikes(&weeks(&mut Random(1), 3, 1_000.0, |hour| {
        if hour == 100 { 9.0 } else { 1.0 }
    }));
    assert_eq!((found.weeks, found.tested, found.single.len()), (3, 0, 0));
    assert_eq!(spikes(&LogAnalysis::default()).tested, 0);
}

/// Returns a log with 1,000 requests in each hour of some stretches, given by their first hour and
/// their number of hours.
fn stretches(stretches: &[(i64, i64)]) -> LogAnalysis {
    let hours = stretches.iter().flat_map(|(first, n)| *first..first + n);
    let hour = |hour: i64| LogHour {
        start_s: MONDAY + hour * 3_600,
        requests: 1_000,
        ..LogHour::default()
    };
    LogAnalysis {
        hours: hours.map(hour).collect(),
        ..LogAnalysis::default()
    }
}

#[test]
fn times_that_no_log_covers_are_not_quiet_hours() {
    let months_apart = stretches(&[(0, 168), (150 * 24, 168)]);
    let wrong_date = stretches(&[(-25 * 365 * 24, 1), (0, 168)]);
    for (log, weeks) in [(months_apart, 2), (wrong_date, 1)] {
        let found = spikes(&log);
        assert_eq!((found.weeks, found.tested), (weeks, 0));
        assert!(found.single.is_empty() && found.weekly.is_empty());
    }
    // A server that is used on five days of the week.
    let days = (0..6 * 7)
        .filter(|day| day % 7 < 5)
        .map(|day| (day * 24, 24));
    let found = spikes(&stretches(&days.collect::<Vec<_>>()));
    assert_eq!((found.weeks, found.tested), (5, 6 * 168 - 48 - 2));
}

#[test]
fn hours_without_requests_count_in_the_average() {
    let mut hours = stretches(&[(0, 1)]).hours;
    hours.extend(stretches(&[(6 * 24 + 3, 1), (100, 1)]).hours);
    for week in 0..8 {
        hours.extend(stretches(&[(week * 168 + 50, 1)]).hours);
    }
    hours.extend(stretches(&[(8 * 168 - 1, 1)]).hours);
    hours.sort_by_key(|hour| hour.start_s);
    let log = LogAnalysis {
        hours,
        ..LogAnalysis::default()
    };
    let slots = slots(&log);
    assert_eq!((slots[6][3].hours, slots[6][3].requests), (8, 1_000));
    assert_eq!((slots[2][2].hours, slots[2][2].requests), (8, 8_000));
}

fn daily(pages: Vec<LogPage>) -> LogAnalysis {
    LogAnalysis {
        pages,
        cell_s: 86_400,
        ..LogAnalysis::default()
    }
}

#[test]
fn logs_without_changes_have_none() {
    let alarmed = (0..LOGS).filter(|seed| {
        let mut random = Random(*seed as u64 + 1000);
        let pages = (0..30).map(|i| page(&mut random, &format!("/{i}"), 28, 0.06, |_| 1.0));
        let mut analysis = daily(pages.collect());
        analysis.releases = vec![(MONDAY + 14 * 86_400, "v2".into())];
        let found = changes(&analysis);
        assert_eq!(found.tested, 30);
        let released = found.releases[0].pages.iter().any(|c| c.is_certain());
        !found.points.is_empty() || !found.trends.is_empty() || released
    });
    let alarmed = alarmed.count();
    // Change points, trends, and releases may each have 5 % false alarms.
    assert!(alarmed <= 3 * ALARMS, "{alarmed} of {LOGS} logs");
}

#[test]
fn the_release_that_made_a_page_slower_is_found() {
    let found = (0..60).filter(|seed| {
        let mut random = Random(*seed);
        let mut pages: Vec<LogPage> = (0..20)
            .map(|i| page(&mut random, &format!("/{i}"), 42, 0.05, |_| 1.0))
            .collect();
        pages.push(page(&mut random, "/search", 42, 0.05, |day| {
            if day >= 20 { 1.4 } else { 1.0 }
        }));
        let mut analysis = daily(pages);
        analysis.releases = vec![(MONDAY + 20 * 86_400, "v12".into())];
        let found = changes(&analysis);
        let point = found.points.first();
        let is_right = point.is_some_and(|c| {
            c.page.name == "/search"
                && c.release.as_deref() == Some("v12")
                && c.ratio.low < 1.4
                && 1.4 < c.ratio.high
        });
        let released = found.releases[0].pages.first();
        is_right
            && found.points.len() == 1
            && released.is_some_and(|c| c.page.name == "/search" && c.is_certain())
    });
    let found = found.count();
    assert!(found >= 54, "{found} of 60");
}

/// Returns a log of 90 days whose page takes twice as long from local midnight of day 45 on, with a
/// release at that time. `offset_s` is the offset of the log's clock.
fn slower_at_midnight(offset_s: i32) -> LogAnalysis {
    const DAY: i64 = 86_400;
    let change_s = MONDAY + 45 * DAY - i64::from(offset_s);
    let cell = |start_s: i64| {
        let new_s = (start_s + DAY - change_s).clamp(0, DAY);
        let mut random = Random(start_s as u64);
        let ln_ns = 17.0 + 2_f64.ln() * new_s as f64 / DAY as f64 + 0.04 * random.normal();
        LogCell {
            start_s,
            requests: 1_000,
            timed: 1_000,
            sum_ln: 1_000.0 * ln_ns,
            ..LogCell::default()
        }
    };
    let page = LogPage {
        name: "/a".into(),
        requests: 90_000,
        timed: 90_000,
        cells: (0..90).map(|day| cell(MONDAY + day * DAY)).collect(),
        ..LogPage::default()
    };
    let hour = LogHour {
        start_s: MONDAY,
        offset_s,
        ..LogHour::default()
    };
    LogAnalysis {
        hours: vec![hour],
        releases: vec![(change_s, "v2".into())],
        ..daily(vec![page])
    }
}

#[test]
fn a_change_in_a_long_log_is_dated_by_the_logs_clock() {
    for hours in [-8, -5, 0, 2, 5, 14] {
        let analysis = slower_at_midnight(hours * 3_600);
        let found = changes(&analysis);
        let point = found.points.first().expect("a change");
        let (release_s, name) = &analysis.releases[0];
        assert_eq!(point.at_s, *release_s, "{hours}");
        assert_eq!(point.release.as_ref(), Some(name), "{hours}");
        let ratio = found.releases[0].pages[0].ratio.estimate;
        assert!((1.9..2.1).contains(&ratio), "{hours}: {ratio}");
    }
}

#[test]
fn a_page_that_grows_slower_has_a_trend() {
    let mut random = Random(5);
    let pages = vec![
        page(&mut random, "/grows", 42, 0.01, |day| {
            1.003_f64.powi(day as i32)
        }),
        page(&mut random, "/stays", 42, 0.01, |_| 1.0),
    ];
    let analysis = daily(pages);
    let found = changes(&analysis);
    let names: Vec<&str> = found
        .trends
        .iter()
        .map(|t| t.page.name.as_str())
        .chain(found.points.iter().map(|c| c.page.name.as_str()))
        .collect();
    assert!(
        names.contains(&"/grows") && !names.contains(&"/stays"),
        "{names:?}"
    );
}

#[test]
fn the_smallest_set_is_the_true_one_and_lies_in_its_interval() {
    // Two of 60 pages take 50 % and 35 % of the time, so the true size is 2.
    let within = (0..100).filter(|seed| {
        let mut random = Random(*seed);
        let mut pages = Vec::new();
        for i in 0..60 {
            let fraction = [0.50, 0.35].get(i).copied().unwrap_or(0.15 / 58.0);
            let mut page = page(&mut random, &format!("/{i:02}"), 28, 0.25, |_| 1.0);
            let scale = fraction * 1e12 / page.total_ns as f64;
            page.cells
                .iter_mut()
                .for_each(|c| c.total_ns = (c.total_ns as f64 * scale) as u64);
            page.total_ns = page.cells.iter().map(|c| c.total_ns).sum();
            pages.push(page);
        }
        let analysis = daily(pages);
        let ranking = ranking(&analysis, PageKind::Page).expect("pages");
        let interval = ranking.interval.expect("28 days");
        assert_eq!(ranking.blocks, (86_400, 28));
        assert_eq!(
            (
                ranking.pages[0].page.name.as_str(),
                ranking.pages[1].page.name.as_str()
            ),
            ("/00", "/01")
        );
        assert!(ranking.pages[0].saving > ranking.pages[1].saving);
        interval.low <= 2.0 && 2.0 <= interval.high && interval.high <= 6.0
    });
    assert!(within.count() >= 93);
}

#[test]
fn changes_between_months_are_found() {
    let mut random = Random(9);
    let mut month = |slower: f64| {
        let mut pages: Vec<LogPage> = (0..10)
            .map(|i| page(&mut Random(i), &format!("/{i}"), 28, 0.0, |_| 1.0))
            .collect();
        for page in &mut pages {
            let factor = if page.name == "/3" { slower } else { 1.0 };
            for cell in &mut page.cells {
                cell.sum_ln += (factor.ln() + 0.05 * random.normal()) * cell.timed as f64;
            }
        }
        daily(pages)
    };
    let (april, may) = (month(1.0), month(1.3));
    let found = match_pages(&april, &may);
    let certain: Vec<&str> = found
        .both
        .iter()
        .filter(|b| {
            b.ratio
                .as_ref()
                .is_some_and(|r| r.low > 1.0 || r.high < 1.0)
        })
        .map(|b| b.pages[0].name.as_str())
        .collect();
    assert_eq!(certain, ["/3"]);
    assert_eq!((found.both.len(), found.alone[0].len()), (10, 0));
}
