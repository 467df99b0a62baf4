// SPDX-License-Identifier: Apache-2.0
//! Function names as written in the source, without the compiler's additions.

/// Suffixes that compilers append to the names of a function's copies, followed by a number or nothing (GCC's
/// `clone_function_name`, LLVM's ThinLTO).
const SUFFIXES: [&str; 9] = [
    "constprop",
    "isra",
    "part",
    "cold",
    "lto_priv",
    "llvm",
    "localalias",
    "hot",
    "unlikely",
];

/// Functions that allocate on behalf of their callers. Their allocations are attributed to the
/// callers.
const ALLOCATORS: [&str; 23] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "strdup",
    "strndup",
    "operator new",
    "__builtin_new",
    "__gnat_malloc",
    "__gnat_realloc",
    "system__memory__",
    "system__pool_global__allocate",
    "system__storage_pools__subpools__allocate_any_controlled",
    "g_malloc",
    "xmalloc",
    "xrealloc",
    "xcalloc",
    "__rust_",
    "alloc::",
];

/// A location in a program, as written by Massif and DHAT: `0x10915E: main (a.c:3)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function, or `???` if unknown.
    pub function: String,
    /// The source file, or the object if the source file is unknown. May be empty.
    pub file: String,
    /// The line number, starting at 1, or 0 if unknown.
    pub line: u32,
}

impl Frame {
    /// Parses a frame. This never fails, because any other text becomes the function's name.
    pub fn parse(text: &str) -> Frame {
        let text = match text.split_once(": ") {
            Some((address, rest)) if address.starts_with("0x") => rest,
            _ => text,
        };
        let place = text
            .strip_suffix(')')
            .and_then(|text| text.rsplit_once(" ("));
        let Some((function, place)) = place else {
            return Frame {
                function: text.into(),
                ..Frame::default()
            };
        };
        let (file, line) = match place.strip_prefix("in ") {
            Some(object) => (object, 0),
            None => match place.rsplit_once(':') {
                Some((file, line)) => (file, line.parse().unwrap_or(0)),
                None => (place, 0),
            },
        };
        Frame {
            function: function.into(),
            file: file.into(),
            line,
        }
    }

    /// Returns true if the function allocates on behalf of its callers.
    pub fn is_allocator(&self) -> bool {
        self.file == "vg_replace_malloc.c"
            || ALLOCATORS
                .iter()
                .any(|name| self.function.starts_with(name))
    }

    /// Formats the location, such as `sax-symbols.adb:99`, or only the function if the line is unknown.
    pub fn location(&self) -> String {
        match self.line {
            0 => self.function.clone(),
            line => format!("{}:{line}", base_name(&self.file)),
        }
    }
}

/// Removes everything that the compiler or Callgrind appended to a function's name.
///
/// This includes suffixes such as `.constprop.0`, `.isra.3`, `.part.1`, `.cold` and `.lto_priv.0`, the number of a
/// nested Ada subprogram, the hash of a Rust function, the recursion depth, and the symbol version.
pub fn clean(name: &str) -> &str {
    let mut name = name;
    loop {
        let shorter = without_suffix(name);
        if shorter.is_empty() || shorter.len() == name.len() {
            return name;
        }
        name = shorter;
    }
}

fn without_suffix(name: &str) -> &str {
    // The symbol version of a shared library (GNU ld's manual, VERSION).
    if let Some((before, _)) = name.split_once("@@") {
        return before;
    }
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit());
    if let Some((before, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|c| c.is_ascii_hexdigit())
    {
        return before;
    }
    if let Some((before, depth)) = name.rsplit_once('\'')
        && is_number(depth)
    {
        return before;
    }
    if let Some((before, clone)) = name
        .strip_suffix(']')
        .and_then(|name| name.rsplit_once(" [clone ."))
        && !clone.contains(' ')
    {
        return before;
    }
    match name.rsplit_once('.') {
        Some((before, word)) if is_number(word) || SUFFIXES.contains(&word) => before,
        _ => name,
    }
}

/// Returns true if a name is a symbol rather than an address or question marks.
pub fn has_symbol(name: &str) -> bool {
    let address = name.strip_prefix("0x");
    let is_address = address.is_some_and(|hex| hex.bytes().all(|c| c.is_ascii_hexdigit()));
    !(is_address || matches!(name, "" | "???" | "(unknown)" | "<unspecified>"))
}

/// Returns the last component of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
