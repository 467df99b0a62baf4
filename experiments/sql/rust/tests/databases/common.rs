// SPDX-License-Identifier: Apache-2.0
//! The cases, tried on any database: what the experiment's README says that they yield is computed
//! here anew.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const ROWS: usize = 500;
const SEED: u64 = 7;

/// A database that the subject is let loose on, and asked about over a connection of the test's own.
pub trait Database {
    /// The value of `target=`.
    fn target(&self) -> String;
    /// The value of `table=`.
    fn table(&self) -> &str;
    /// The value of `settings=`, for servers.
    fn settings(&self) -> Option<&str>;
    /// What stands between `CREATE TABLE test_mixed (` and its `)`.
    fn mixed_columns(&self) -> &str;
    fn execute(&self, statement: &str);
    /// The one number that a query answers.
    fn number(&self, query: &str) -> i64;
}

/// The program, driven as the lab does it.
pub struct Subject {
    process: Child,
    commands: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl Subject {
    pub fn start(program: &str) -> Self {
        let mut process = Command::new(program)
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let replies = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut subject = Self {
            process,
            commands,
            replies,
        };
        let hello = subject.replies.next().unwrap().unwrap();
        assert!(
            hello.starts_with("@lab hello protocol=1 subject=rust "),
            "{hello}"
        );
        subject
    }

    pub fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        self.replies.next().unwrap().unwrap()
    }

    /// As `ask`; the reply must begin with this.
    pub fn ask_for(&mut self, reply: &str, command: &str) -> String {
        let answer = self.ask(command);
        assert!(answer.starts_with(reply), "{command}: {answer}");
        answer
    }

    pub fn quit(mut self) {
        writeln!(self.commands, "quit").unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}

/// Drives every case, at several points, and compares what it says and what it leaves behind.
pub fn every_case(database: &impl Database, program: &str, more: &[&str]) {
    let points = [
        "connect",
        "select_1 statement=prepared",
        "select_1 statement=text",
        "select limit=1 statement=prepared",
        "select limit=100 statement=prepared",
        "select limit=100 statement=text",
        "point statement=prepared",
        "point statement=text",
        "mixed statement=prepared",
        "insert statement=prepared",
        "insert statement=text",
        "insert_tx rows_tx=1",
        "insert_tx rows_tx=7",
        "update_point",
        "transfer",
        "drop_create",
        "connections connections=1",
        "connections connections=5",
    ];
    let mut subject = Subject::start(program);
    for point in points.iter().chain(more) {
        one_case(database, &mut subject, point);
    }
    subject.quit();
}

fn one_case(database: &impl Database, subject: &mut Subject, point: &str) {
    let case = point.split(' ').next().unwrap();
    let fills = ["insert", "insert_tx", "drop_create"].contains(&case);
    make_tables(database, if fills { 0 } else { ROWS });
    let mut model = Model::new(point, !fills);
    let opened = subject.ask_for("@lab opened ", &open(database, point));
    assert!(opened.contains(" version="), "{opened}");
    for operations in [1, 3] {
        let verified = subject.ask(&format!("verify operations={operations}"));
        let wanted = model.perform(operations);
        assert_eq!(verified, format!("@lab verified {wanted}"), "{point}");
    }
    for operations in [2, 60] {
        let ran = subject.ask(&format!("run operations={operations}"));
        let wanted = model.perform(operations);
        let (_, yielded) = ran.split_once(" operations=").expect(&ran);
        let (yielded, latencies) = match yielded.split_once(" latencies=") {
            Some((yielded, latencies)) => (yielded, Some(latencies)),
            None => (yielded, None),
        };
        assert_eq!(format!("operations={yielded}"), wanted, "{point}");
        assert_eq!(
            latencies.map(counted),
            (case == "connections").then_some(operations)
        );
    }
    assert_eq!(subject.ask("close"), "@lab closed");
    assert_eq!(
        [
            "count(*)",
            "coalesce(sum(value), 0)",
            "coalesce(sum(id * (value % 1000)), 0)"
        ]
        .map(|what| database.number(&format!("SELECT {what} FROM test_simple"))),
        model.left(),
        "{point}"
    );
}

fn counted(latencies: &str) -> u64 {
    let counts = latencies
        .split(',')
        .map(|pair| pair.split_once(':').unwrap().1);
    counts.map(|count| count.parse::<u64>().unwrap()).sum()
}

/// What goes wrong is said, and the subject goes on.
pub fn work_that_fails(database: &impl Database, program: &str, missing_table: &str) {
    let mut subject = Subject::start(program);
    for point in [
        "select limit=2 statement=prepared",
        "select limit=2 statement=text",
        "insert statement=prepared",
        "insert_tx rows_tx=3",
        "transfer",
        "drop_create",
        "connections connections=3",
    ] {
        make_tables(database, ROWS);
        let open = open(database, point);
        subject.ask_for("@lab opened ", &open);
        database.execute("DROP TABLE test_simple");
        let failed = subject.ask_for("@lab error code=failed message=", "run operations=4");
        assert!(failed.contains(missing_table), "{point}: {failed}");
        make_tables(database, ROWS); // It holds on to nothing that would be in the way.
        assert_eq!(subject.ask("close"), "@lab closed");
        subject.ask_for("@lab opened ", &open);
        subject.ask_for("@lab ran ", "run operations=4");
        assert_eq!(subject.ask("close"), "@lab closed");
    }
    subject.quit();
}

/// What is refused, and how.
pub fn wrong_arguments(database: &impl Database, program: &str) {
    let mut subject = Subject::start(program);
    make_tables(database, ROWS);
    for (point, code) in [
        ("other", "unsupported"),
        ("select_1", "usage"),
        ("select_1 statement=cached", "unsupported"),
        ("select statement=text", "usage"),
        ("select statement=text limit=0", "usage"),
        ("insert_tx rows_tx=x", "usage"),
        ("connections connections=0", "usage"),
    ] {
        let refused = format!("@lab error code={code} message=");
        subject.ask_for(&refused, &open(database, point));
    }
    let elsewhere = "open case=connect seed=7 target=oracle:x";
    subject.ask_for("@lab error code=unsupported ", elsewhere);
    subject.ask_for("@lab error code=usage ", "open case=connect seed=7");
    let no_rows = open(database, "point statement=text").replace(" rows=", " sows=");
    subject.ask_for("@lab error code=usage ", &no_rows);
    subject.ask_for("@lab opened ", &open(database, "connect"));
    subject.quit();
}

/// The server has no more connections than before: `connections` counts them.
pub fn closes_its_connections(database: &impl Database, program: &str, connections: &str) {
    let mut subject = Subject::start(program);
    let before = database.number(connections);
    for point in [
        "connect",
        "point statement=prepared",
        "connections connections=20",
    ] {
        subject.ask_for("@lab opened ", &open(database, point));
        subject.ask_for("@lab ran ", "run operations=20");
        subject.ask_for("@lab closed", "close");
    }
    // Connections need a moment to go; other programs' may come and go, too.
    let gone = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        database.number(connections) <= before
    });
    let after = database.number(connections);
    assert!(gone, "{before} connections before, {after} after");
    subject.quit();
}

/// Of a transaction in which a row is refused nothing is left, and the next one is done. `refused`: what the error says.
pub fn rolls_a_failed_transaction_back(database: &impl Database, program: &str, refused: &str) {
    database.execute("DELETE FROM test_simple");
    database.execute("ALTER TABLE test_simple ADD CONSTRAINT refuse CHECK (value <> 1934368832)");
    let mut subject = Subject::start(program);
    subject.ask_for("@lab opened ", &open(database, "insert_tx rows_tx=2"));
    // The third value of the sequence for seed 7, shifted right by 33.
    let failed = subject.ask_for("@lab error code=failed ", "run operations=2");
    assert!(failed.contains(refused), "{failed}");
    assert_eq!(database.number("SELECT count(*) FROM test_simple"), 2);
    subject.ask_for("@lab verified ", "verify");
    assert_eq!(database.number("SELECT count(*) FROM test_simple"), 4);
    subject.quit();
}

/// The command that opens a case.
pub fn open(database: &impl Database, point: &str) -> String {
    let mut command = format!("open case={point} seed={SEED} rows={ROWS}");
    command += &format!(" table={}", encoded(database.table()));
    command += &format!(" target={}", encoded(&database.target()));
    if let Some(settings) = database.settings() {
        command += &format!(" settings={}", encoded(settings));
    }
    command
}

fn encoded(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    value.bytes().map(encode).collect()
}

/// Both tables, made anew; `test_simple` with so many rows.
fn make_tables(database: &impl Database, rows: usize) {
    database.execute("DROP TABLE IF EXISTS test_simple");
    database.execute(database.table());
    for id in 1..=rows {
        if id % 100 == 1 {
            let values: Vec<String> = (id..id + 100)
                .map(|id| format!("({})", value(id)))
                .collect();
            let values = values.join(",");
            database.execute(&format!("INSERT INTO test_simple (value) VALUES {values}"));
        }
    }
    database.execute("DROP TABLE IF EXISTS test_mixed");
    database.execute(&format!(
        "CREATE TABLE test_mixed ({})",
        database.mixed_columns()
    ));
    let rows: Vec<String> = (1..=ROWS).map(|id| Mixed::of(id).sql()).collect();
    database.execute(&format!("INSERT INTO test_mixed VALUES {}", rows.join(",")));
}

/// The value in a row of `test_simple`.
fn value(id: usize) -> i64 {
    (id as i64 * 7_919_777) % (1 << 30)
}

/// A row of `test_mixed`. Each fifth holds extremes.
struct Mixed {
    id: i64,
    small: i64,
    big: i64,
    ten_thousandths: i64,
    name: String,
    day: i64,
    ms: i64,
}

impl Mixed {
    fn of(id: usize) -> Self {
        let n = id as i64;
        let sign = if id.is_multiple_of(2) { 1 } else { -1 };
        let extreme = id.is_multiple_of(5);
        Self {
            id: n,
            small: if extreme {
                i64::from(i32::MIN)
            } else {
                sign * n * 4_000_000
            },
            big: if extreme {
                i64::MAX
            } else {
                sign * n * 18_000_000_000_000_001
            },
            ten_thousandths: if extreme {
                sign * 999_999_999_999_999
            } else {
                sign * (n * n + 1)
            },
            name: "aß€😀"
                .chars()
                .cycle()
                .skip(id)
                .take(20 + id % 21)
                .collect(),
            day: n % 28,
            ms: (n * 172_801) % 86_400_000,
        }
    }

    fn sql(&self) -> String {
        let Self {
            id,
            small,
            big,
            name,
            ..
        } = self;
        let sign = if self.ten_thousandths < 0 { "-" } else { "" };
        let amount = self.ten_thousandths.abs();
        let (whole, fraction) = (amount / 10_000, amount % 10_000);
        let (s, ms) = (self.ms / 1000, self.ms % 1000);
        let (h, min, s) = (s / 3600, s / 60 % 60, s % 60);
        let day = self.day + 1;
        format!(
            "({id}, {small}, {big}, {sign}{whole}.{fraction:04}, '{name}', NULL, \
             '2069-12-{day:02} {h:02}:{min:02}:{s:02}.{ms:03}')"
        )
    }

    fn fold(&self) -> i128 {
        // 1 December 2069 is day 36,494 since 1970: 100 years with 24 leap days, less a month.
        let moment = (36_494 + self.day) * 86_400_000 + self.ms;
        let name: u32 = self.name.chars().map(u32::from).sum();
        let small = [
            self.id,
            self.small,
            self.ten_thousandths,
            i64::from(name),
            1,
            moment,
        ];
        i128::from(self.big) + small.map(i128::from).iter().sum::<i128>()
    }
}

/// What the case should do to `test_simple`, and yield.
struct Model<'a> {
    case: &'a str,
    size: usize,
    rows: Vec<i64>,
}

impl<'a> Model<'a> {
    fn new(point: &'a str, filled: bool) -> Self {
        let number = |word: &str| word.split_once('=')?.1.parse().ok();
        Self {
            case: point.split(' ').next().unwrap(),
            size: point.split(' ').find_map(number).unwrap_or(1),
            rows: if filled {
                (1..=ROWS).map(value).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// The arguments that a batch of so many operations is answered with.
    fn perform(&mut self, operations: u64) -> String {
        let batches: Vec<(usize, i128)> = (0..operations as usize)
            .map(|k| self.operation(k))
            .collect();
        let units: usize = batches.iter().map(|(units, _)| units).sum();
        let check: i128 = batches.iter().map(|(_, check)| check).sum();
        let check = check.rem_euclid(1 << 64);
        format!("operations={operations} units={units} check={check}")
    }

    /// The units and the sum of operation k.
    fn operation(&mut self, k: usize) -> (usize, i128) {
        let s = sequence(k);
        let place = |s: u64| (s % ROWS as u64) as usize;
        let new_value = |s: u64| (s >> 33) as i64;
        let amount = |s: u64| 1 + ((s >> 20) % 100) as i64;
        match self.case {
            "connect" | "select_1" | "do_1" => (1, 1),
            "drop_create" => {
                self.rows.clear();
                (1, 1)
            }
            "select" => {
                let rows = self.rows.iter().take(self.size).zip(1..);
                (
                    self.size,
                    rows.map(|(value, id)| i128::from(value + id)).sum(),
                )
            }
            "point" | "connections" => (1, self.rows[place(s)].into()),
            "mixed" => (1, Mixed::of(1 + place(s)).fold()),
            "insert" | "insert_tx" => {
                let first = self.rows.len();
                let inserted = (k * self.size)..(k + 1) * self.size;
                self.rows.extend(inserted.map(|k| new_value(sequence(k))));
                (
                    self.size,
                    self.rows[first..].iter().map(|&v| i128::from(v)).sum(),
                )
            }
            "update_point" => {
                self.rows[place(s)] += amount(s);
                (1, amount(s).into())
            }
            "transfer" => {
                self.rows[place(s)] -= amount(s);
                self.rows[place(s >> 32)] += amount(s);
                (2, amount(s).into())
            }
            other => panic!("write down here what the case {other} yields"),
        }
    }

    /// Rows, the sum of their values, and one that differs if they change places.
    fn left(&self) -> [i64; 3] {
        let rows = self.rows.iter().zip(1..);
        let places = rows
            .map(|(value, id): (&i64, i64)| id * (value % 1000))
            .sum();
        [self.rows.len() as i64, self.rows.iter().sum(), places]
    }
}

/// Value k of the seeded sequence, in arithmetic that does not wrap by itself.
fn sequence(k: usize) -> u64 {
    const MASK: u128 = u64::MAX as u128;
    let steps = (k % 4096) as u128 + 1;
    let mut z = (u128::from(SEED) + steps * 0x9E37_79B9_7F4A_7C15) & MASK;
    z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & MASK;
    z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & MASK;
    (z ^ (z >> 31)) as u64
}
