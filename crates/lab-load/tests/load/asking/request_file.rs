// SPDX-License-Identifier: Apache-2.0
//! Tests that request files are parsed as documented, and that error messages contain the invalid
//! line.

use lab_load::{JobError, LoadUrl, Request, Requests, read_requests};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::PathBuf;

const EXAMPLE: &str = "# Comments begin with # or //.
# @weight 3
GET /items?page=1
Accept: application/json
// another one
X-Trace: a: b

### A line that begins with ### ends a request
POST http://127.0.0.1:8080/items HTTP/1.1
Content-Type: application/json

{\"name\": \"x\",

# not a comment here
\"n\": 1}


###
PUT /items/7
@item.json

GET /a
# @weight 2
GET /b
GET http://127.0.0.1:8080/c
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.0.path().join("item.json"), b"\xff\x00\r\n").unwrap();
        folder
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("requests.http")
    }

    fn read(&self, text: impl AsRef<[u8]>) -> Result<Vec<Request>, JobError> {
        // On some filesystems, truncating and rewriting a file waits for the disk.
        let _ = std::fs::remove_file(self.file());
        std::fs::write(self.file(), text).unwrap();
        let base = LoadUrl::parse("http://me:pw@127.0.0.1:8080/start").unwrap();
        read_requests(&self.file(), Some(&base))
    }

    fn wrong(&self, text: impl AsRef<[u8]>) -> String {
        let error = self.read(text).unwrap_err().to_string();
        let file = self.file().display().to_string();
        error
            .strip_prefix(&file)
            .expect("the message begins with the file's name")
            .to_owned()
    }
}

fn summary(request: &Request) -> (String, u32, usize, &[u8]) {
    let line = format!("{} {}", request.method, request.link);
    (line, request.weight, request.headers.len(), &request.body)
}

#[test]
fn a_file_is_read_as_documented() {
    let folder = Folder::new();
    for text in [EXAMPLE.to_owned(), format!("\u{feff}{EXAMPLE}")] {
        let requests = folder.read(text).unwrap();
        let body = b"{\"name\": \"x\",\n\n# not a comment here\n\"n\": 1}";
        let at = |path: &str| format!("http://127.0.0.1:8080{path}");
        let expected: [(String, u32, usize, &[u8]); 6] = [
            (format!("GET {}", at("/items?page=1")), 3, 2, b""),
            (format!("POST {}", at("/items")), 1, 1, body),
            (format!("PUT {}", at("/items/7")), 1, 0, b"\xff\x00\r\n"),
            (format!("GET {}", at("/a")), 1, 0, b""),
            (format!("GET {}", at("/b")), 2, 0, b""),
            (format!("GET {}", at("/c")), 1, 0, b""),
        ];
        let summaries: Vec<_> = requests.iter().map(summary).collect();
        assert_eq!(summaries, expected);
    }
}

#[test]
fn lists_with_and_without_empty_lines_are_the_same() {
    let folder = Folder::new();
    for text in [
        "GET /a\nGET /b",
        "GET /a\n\nGET /b\n",
        "GET /a\r\n\r\n# b\r\n\r\nGET /b\r\n",
        "GET /a\n###\nGET /b\n###\n",
    ] {
        let requests = folder.read(text).unwrap();
        let paths: Vec<&str> = requests.iter().map(|r| r.link.path()).collect();
        assert_eq!(paths, ["/a", "/b"], "{text:?}");
        assert!(
            requests
                .iter()
                .all(|r| r.body.is_empty() && r.headers.is_empty()),
            "{text:?}"
        );
    }
}

#[test]
fn bodies_keep_their_line_ends_and_lose_the_last() {
    let folder = Folder::new();
    let requests = folder.read("POST /a\r\n\r\nx\r\ny\r\n\r\n").unwrap();
    assert_eq!(&requests[0].body[..], b"x\r\ny");
    let requests = folder
        .read("POST /a\nX: y\n\n< item.json\n\nGET /b")
        .unwrap();
    assert_eq!(&requests[0].body[..], b"\xff\x00\r\n");
    assert_eq!(requests.len(), 2);
}

#[test]
fn errors_name_and_show_the_line() {
    let folder = Folder::new();
    let cases: [(&str, &str); 18] = [
        (
            "GET /a\n\n###\nGET\n",
            ":4: a request must begin with a method and a path or URL",
        ),
        ("GET /a b c\n", ":1: a request must begin"),
        (
            "# x\nGET /a\nno header\n",
            ":3: the header `no header` has no colon",
        ),
        (
            "GET /a\nContent-Length: 3\n",
            ":2: the header `Content-Length` cannot be set",
        ),
        ("GET /a\nX: {{token}}\n", ":2: variables are not supported"),
        (
            "POST /a\n\n{\n\"user_id\": \"{{user_id}}\"}\n",
            ":4: variables are not supported",
        ),
        ("@host = example.org\nGET /a\n", ":1: "),
        (
            "POST /a\n\n@none.json\n",
            ":3: the body cannot be read: No such file",
        ),
        (
            "POST /a\n\n@/dev/zero\n",
            ":3: the body cannot be read: is larger than 16 MiB",
        ),
        (
            "# @weight 0\nGET /a\n",
            ":1: a weight must be a whole number of 1 or more",
        ),
        (
            "# @weight x\nGET /a\n",
            ":1: a weight must be a whole number of 1 or more",
        ),
        ("POST /a\n# @weight 3\nbody\n", ":2: a weight comes before"),
        (
            "GET ftp://h/\n",
            ":1: unsupported scheme `ftp` in `ftp://h/`",
        ),
        ("CONNECT /x\n", ":1: CONNECT"),
        (
            "GET /a\nhttp://127.0.0.1/b\n",
            ":2: a request must begin with a method",
        ),
        (
            "http://127.0.0.1/b\n",
            ":1: a request must begin with a method",
        ),
        ("# nothing\n\n", ":2: the file contains no request"),
        (
            "POST /a\n\nx\n> {% test %}\n",
            ":4: scripts are not supported",
        ),
    ];
    for (text, words) in cases {
        let error = folder.wrong(text);
        assert!(error.starts_with(words), "{text:?}: {error}");
    }
    assert!(folder.wrong("GET /a\nX y\n").ends_with("\n  2 | X y"));
    assert!(
        folder
            .wrong("GET /a\n\x1b[31m\n")
            .ends_with("\n  2 | \\u{1b}[31m")
    );
    assert!(
        folder
            .wrong(b"GET /a\n\xff")
            .starts_with(":2: is not UTF-8")
    );
    assert!(
        folder
            .wrong("")
            .starts_with(":1: the file contains no request")
    );
}

#[test]
fn a_path_needs_a_server() {
    let folder = Folder::new();
    std::fs::write(folder.file(), "GET /a\n").unwrap();
    let error = read_requests(&folder.file(), None).unwrap_err().to_string();
    assert!(error.contains(":1: the path has no server"), "{error}");
    std::fs::write(folder.file(), "GET http://127.0.0.1/a\n").unwrap();
    assert_eq!(read_requests(&folder.file(), None).unwrap().len(), 1);
    assert!(read_requests(&folder.0.path().join("none"), None).is_err());
    assert!(read_requests(folder.0.path(), None).is_err());
    let endless = read_requests(std::path::Path::new("/dev/zero"), None).unwrap_err();
    assert!(
        endless.to_string().contains("is larger than 16 MiB"),
        "{endless}"
    );
}

/// Mutated files are either rejected, or parsed into requests that can be rendered and that another
/// parser accepts.
#[test]
fn no_request_file_panics() {
    let folder = Folder::new();
    let mut random = SmallRng::seed_from_u64(7);
    let mut read = 0;
    for _ in 0..5_000 {
        let mut text = EXAMPLE.as_bytes().to_vec();
        for _ in 0..random.random_range(1..8) {
            mutate(&mut text, &mut random);
        }
        let Ok(requests) = folder.read(&text) else {
            continue;
        };
        let requests = Requests::new(&requests, true, 1).unwrap();
        for i in 0..requests.period() {
            let mut headers = [httparse::EMPTY_HEADER; 256];
            let mut parsed = httparse::Request::new(&mut headers);
            let bytes = &requests.get(i).bytes;
            let read = parsed.parse(bytes);
            assert!(
                read.is_ok_and(|r| r.is_complete()),
                "{read:?} {}",
                bytes.escape_ascii()
            );
            assert_eq!(
                parsed.headers.iter().filter(|h| h.name == "Host").count(),
                1
            );
        }
        read += 1;
    }
    assert!(read > 500, "{read} were read, too few to say something");
}

fn mutate(text: &mut Vec<u8>, random: &mut SmallRng) {
    const PIECES: [&[u8]; 14] = [
        b"\n",
        b"\r\n",
        b"###",
        b"#",
        b"@",
        b"< ",
        b": ",
        b"GET /",
        b"# @weight 9",
        b"\0",
        b"\xff",
        b" ",
        b"//",
        b"{{",
    ];
    let place = random.random_range(0..=text.len());
    let end = (place + random.random_range(0..20)).min(text.len());
    match random.random_range(0..4) {
        0 => drop(text.drain(place..end)),
        1 => drop(text.splice(
            place..place,
            PIECES[random.random_range(0..PIECES.len())].iter().copied(),
        )),
        2 => text[place..end].reverse(),
        _ => {
            let piece = text[place..end].to_vec();
            let destination = random.random_range(0..=text.len());
            drop(text.splice(destination..destination, piece));
        }
    }
}
