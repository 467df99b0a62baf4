// SPDX-License-Identifier: Apache-2.0
//! The lab's own memory: what it needed to get ready is given back before it measures.

use nix::sys::mman::{MmapAdvise, madvise};
use std::ffi::c_void;
use std::fs;
use std::ptr::{NonNull, without_provenance_mut};

/// Gives back memory that only the preparation needed: freed memory, and pages of the program and its libraries.
/// Pages that are needed again come from the system's cache of files, within a millisecond all together.
pub fn give_back() {
    // SAFETY: only what nobody uses is given back (malloc_trim(3)).
    unsafe { libc::malloc_trim(0) };
    let maps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let mut mapping = None;
    for line in maps.lines() {
        if let Some(next) = begin(line) {
            mapping = next;
        } else if let Some(rest) = line.strip_prefix("Anonymous:")
            && rest.trim() == "0 kB"
            && let Some((begin, length)) = mapping.take()
        {
            // SAFETY: the mapping is not writable, and no page of it differs from its file's: all come back
            // as they were (madvise(2)).
            let _ = unsafe { madvise(begin, length, MmapAdvise::MADV_DONTNEED) };
        }
    }
}

type Mapping = (NonNull<c_void>, usize);

/// Whether a line of /proc/PID/smaps (proc(5)) begins a mapping, and the mapping, if it is of a file that is
/// only read and executed.
fn begin(line: &str) -> Option<Option<Mapping>> {
    let mut words = line.split_ascii_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (begin, end) = (number(begin)?, number(end)?);
    let (rights, file) = (words.next()?, words.nth(3));
    let of_file = ["r--p", "r-xp"].contains(&rights) && file.is_some_and(|f| f.starts_with('/'));
    let mapping = NonNull::new(without_provenance_mut(begin)).filter(|_| of_file);
    Some(mapping.map(|address| (address, end.saturating_sub(begin))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_read_and_executed_is_found() {
        let mapped_length =
            |line: &str| begin(line).map(|mapping| mapping.map(|(_, length)| length));
        let file = "00:1f 77 /usr/bin/benchlab";
        let code = format!("55d0c000-55d0e000 r-xp 00001000 {file}");
        assert_eq!(mapped_length(&code), Some(Some(0x2000)));
        let constants = format!("55d0c000-55d0d000 r--p 00000000 {file}");
        assert_eq!(mapped_length(&constants), Some(Some(0x1000)));
        let data = format!("55d0c000-55d0d000 rw-p 00000000 {file}");
        assert_eq!(mapped_length(&data), Some(None));
        assert_eq!(
            mapped_length("7ffc0000-7ffc2000 r-xp 00000000 00:00 0 [vdso]"),
            Some(None)
        );
        assert_eq!(
            mapped_length("7ffc0000-7ffc2000 r--p 00000000 00:00 0"),
            Some(None)
        );
        assert_eq!(mapped_length("Anonymous:             0 kB"), None);
        assert_eq!(mapped_length("VmFlags: rd ex mr mw me sd"), None);
    }

    /// While others execute what is given back.
    #[test]
    fn nothing_changes_by_giving_back() {
        let sum = || (0..200_000_u64).map(std::hint::black_box).sum::<u64>();
        let once = sum();
        std::thread::scope(|scope| {
            let others = [0; 4].map(|_| scope.spawn(|| (0..20).all(|_| sum() == once)));
            (0..20).for_each(|_| give_back());
            assert!(others.into_iter().all(|other| other.join().unwrap()));
        });
    }
}
