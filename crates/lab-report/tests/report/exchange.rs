// SPDX-License-Identifier: Apache-2.0
//! The XML that earlier SQL benchmarks exchanged.
//!
//! Those programs must be able to read benchlab's XML, benchlab must enforce its limits when
//! reading, and a round trip must preserve all values.

use crate::support;
use lab_document::format::xml;
use lab_document::{Document, ImportError, ImportLimits, import_xml};
use lab_model::{Imported, Run, SubjectId};
use proptest::prelude::*;

fn read(text: &str) -> Result<Vec<Imported>, ImportError> {
    import_xml(text.as_bytes(), &ImportLimits::default())
}

fn document(run: &Run) -> Document {
    support::document(run)
}

fn written() -> String {
    xml::render(&document(&support::sample(3)))
}

#[test]
fn written_values_are_read_back() {
    let run = support::sample(3);
    let back = read(&written()).expect("our own XML");
    let plan = run.plan().expect("a plan");
    assert_eq!(back.len(), plan.subjects.len());
    let python = &back[4];
    assert_eq!(
        (python.language.as_str(), python.driver.as_str()),
        ("python", "sqlite")
    );
    assert_eq!(python.threads, Some(1));
    assert_eq!(python.user_ns, Some(812_000_000));
    let point = plan
        .points
        .find_id(|p| p.x == Some(100.0))
        .expect("a point with 100");
    let samples = run.complete_blocks().flat_map(|b| &b.samples);
    let samples: Vec<_> = samples
        .filter(|s| s.subject == SubjectId(4) && s.point == point)
        .collect();
    let count: u64 = samples.iter().map(|s| s.batch.operations).sum();
    let times = samples
        .iter()
        .map(|s| s.batch.wall_ns as f64 / s.batch.operations as f64);
    let (min, max) = times.fold((f64::MAX, 0.0_f64), |(a, b), t| (a.min(t), b.max(t)));
    let time = back[4]
        .times
        .iter()
        .find(|t| t.title == "select statement=prepared limit 100")
        .expect("the point");
    assert_eq!(time.count, count);
    assert!((min..=max).contains(&time.time_ns), "{}", time.time_ns);
    assert!((time.total_ns / count as f64 - time.time_ns).abs() < 0.001);
}

/// Checks the import format of sql-benchmark (tools/src/tool-data.adb).
///
/// - The value before the space is a fixed-point number, followed by the unit.
/// - The value of the sweep is the last word of a title that has at least 14 letters.
/// - All attributes of `<benchmark>` are integers.
#[test]
fn each_subject_has_a_file_for_the_earlier_parser() {
    let files = xml::per_subject(&document(&support::sample(3)));
    assert_eq!(files.len(), 6);
    for file in files {
        let document = roxmltree::Document::parse(&file.text).expect("XML");
        let root = document.root_element();
        assert!(root.has_tag_name("benchmark"));
        for name in [
            "threads",
            "rss_size",
            "peak_rss_size",
            "user_time",
            "sys_time",
        ] {
            let value = root.attribute(name).unwrap_or_else(|| panic!("no {name}"));
            assert!(value.parse::<i32>().is_ok_and(|n| n >= 0), "{name}={value}");
        }
        let measures = root.first_element_child().expect("measures");
        assert!(measures.has_tag_name("measures") && measures.attribute("title").is_some());
        for time in measures.children().filter(|n| n.is_element()) {
            assert!(
                time.attribute("count")
                    .is_some_and(|n| n.parse::<i32>().is_ok())
            );
            for name in ["time", "total"] {
                let (number, unit) = time
                    .attribute(name)
                    .and_then(|v| v.split_once(' '))
                    .expect("a number and a unit");
                assert!(number.parse::<f64>().is_ok() && ["us", "ms", "s"].contains(&unit));
            }
            let title = time.attribute("title").expect("a title");
            let last = title.rsplit(' ').next().unwrap_or("");
            assert_eq!(
                last.parse::<u32>().is_ok(),
                title.contains(" limit ") || title.contains(" rows_tx ")
            );
            assert!(last.parse::<u32>().is_err() || title.len() >= 14, "{title}");
        }
    }
}

#[test]
fn files_of_the_earlier_tools_are_read() {
    let java = "<benchmark language='Java' driver='sqlite' threads='16' rss_size='98304' peak_rss_size='102400' \
                user_time='5210' sys_time='340'>\n<measures title='SQL Benchmark'>\n\
                <time count='10000' time='2 us' total='23.45 ms' title='SELECT 1' />\n\
                <time count='1000' time='61 us' total='61.200 ms' title='SELECT * FROM test_simple LIMIT 100' />\n\
                </measures>\n</benchmark>\n";
    let read_back = read(java).expect("a file of sql-benchmark");
    let benchmark = &read_back[0];
    assert_eq!(
        (benchmark.language.as_str(), benchmark.rss_bytes),
        ("Java", Some(98_304 * 1024))
    );
    assert_eq!(
        (benchmark.threads, benchmark.user_ns),
        (Some(16), Some(5_210_000_000))
    );
    assert_eq!(benchmark.times[0].title, "SELECT 1");
    assert!(
        (benchmark.times[0].time_ns - 2345.0).abs() < 1e-6,
        "the total is more precise than the rounded time"
    );

    let measures = "<measures title=\"Example of measures\">\n<time count=\"1000\" time=\"406.000000000us\" title=\"Empty\"/>\n\
                    <time count=\"2\" time=\"1.960000000ms\" title=\"Put\"/></measures>";
    let alone = read(measures).expect("a file of Util.Measures");
    assert_eq!(
        alone[0].times[0].time_ns, 406.0,
        "without a total, the time is the total"
    );
    assert_eq!(alone[0].times[1].total_ns, 1.96e6);

    let two = read(&format!("{java}{java}")).expect("two concatenated files");
    assert_eq!(two.len(), 2);
}

#[test]
fn errors_have_a_reason_and_a_position() {
    let error_of = |text: &str| read(text).expect_err("an error");
    let wrap = |time: &str| {
        format!(
            "<benchmark language='C' driver='d'>\n <measures>\n  {time}\n </measures>\n</benchmark>"
        )
    };
    let unit = error_of(&wrap("<time count='1' time='12' title='t'/>"));
    assert_eq!((unit.line, unit.column), (3, 3));
    assert!(unit.message.contains("ns, us, ms or s"), "{unit}");
    for (text, word) in [
        (wrap("<time count='0' time='1 us' title='t'/>"), "count"),
        (wrap("<time count='1' time='-1 us' title='t'/>"), "-1 us"),
        (
            wrap("<time count='1' time='1e999 s' title='t'/>"),
            "not a time",
        ),
        (
            wrap("<time count='1' title='t'/>"),
            "neither time nor total",
        ),
        (wrap("<time time='1 us' count='1'/>"), "no title"),
        ("<html/>".into(), "<html>"),
        (
            "<benchmark><time count='1' time='1 us' title='t'/></benchmark>".into(),
            "does not belong",
        ),
        ("<benchmark><measures>".into(), "truncated"),
        ("<benchmark></measures>".into(), "well-formed"),
        ("".into(), "no <benchmark>"),
        ("hello".into(), "not a results file"),
        ("<benchmark threads='many'/>".into(), "threads"),
        (
            "<benchmark rss_size='18446744073709551615'/>".into(),
            "too large",
        ),
    ] {
        let error = error_of(&text);
        assert!(error.message.contains(word), "{text}: {error}");
        assert!(error.to_string().starts_with("line "));
    }
    let latin = import_xml(b"<benchmark\n language='\xe9'/>", &ImportLimits::default())
        .expect_err("not UTF-8");
    assert_eq!((latin.line, latin.column), (2, 12));
}

#[test]
fn xml_bombs_are_rejected() {
    let bomb = "<!DOCTYPE b [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n<benchmark language='&b;'/>";
    assert!(
        read(bomb)
            .expect_err("a document type")
            .message
            .contains("DOCTYPE")
    );
    assert!(read("<benchmark language='&bomb;'/>").is_err());
    assert!(read("<benchmark>&bomb;</benchmark>").is_err());
    let deep = "<benchmark>".to_string() + &"<a>".repeat(1000);
    assert!(read(&deep).expect_err("depth").message.contains("deeper"));
    let time = "<time count='1' time='1 us' title='t'/>";
    let many = format!(
        "<benchmark><measures>{}</measures></benchmark>",
        time.repeat(20)
    );
    let limits = ImportLimits {
        elements: 10,
        ..ImportLimits::default()
    };
    assert!(
        import_xml(many.as_bytes(), &limits)
            .expect_err("elements")
            .message
            .contains("more than 10")
    );
    let limits = ImportLimits {
        bytes: 100,
        ..ImportLimits::default()
    };
    assert!(
        import_xml(many.as_bytes(), &limits)
            .expect_err("bytes")
            .message
            .contains("the maximum is 100 bytes")
    );
    assert!(read(&many).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Importing a corrupted file results in plausible values, or in an error with its position.
    #[test]
    fn mutated_files_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..12)) {
        let mut bytes = xml::render(&document(&support::imported())).into_bytes();
        for (index, byte, kind) in edits {
            let at = index.index(bytes.len().max(1));
            match kind {
                _ if bytes.len() < 20 => break,
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        match import_xml(&bytes, &ImportLimits::default()) {
            Ok(found) => for time in found.iter().flat_map(|b| &b.times) {
                prop_assert!(time.count > 0 && time.time_ns.is_finite() && time.time_ns >= 0.0);
            },
            Err(error) => prop_assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty()),
        }
    }

    #[test]
    fn any_title_survives(title in "[^\\p{C}]{0,40}", ns in 0.0f64..1e15, count in 1u64..1_000_000) {
        let mut run = support::imported();
        let lab_model::Content::Imported(imports) = &mut run.content else { unreachable!() };
        imports.truncate(1);
        imports[0].times.truncate(1);
        imports[0].times[0] = lab_model::ImportedTime { title: title.clone(), count, time_ns: ns / count as f64, total_ns: ns };
        let back = read(&xml::render(&document(&run))).expect("our own XML");
        prop_assert_eq!(&back[0].times[0].title, &title);
        // Long times are written in seconds, to the nanosecond.
        prop_assert!((back[0].times[0].total_ns - ns).abs() <= 0.501 + ns * 1e-12);
        prop_assert_eq!(back[0].rss_bytes, Some(5 << 20));
    }
}
