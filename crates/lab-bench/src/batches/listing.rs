// SPDX-License-Identifier: Apache-2.0
//! Reads the listings that subjects' builds write, such as the machine instructions of a loop.

use lab_model::{IdVec, Run, Setting, Subject, SubjectId};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum size of a listing in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads the listings that are not in the run yet. Returns a listing or an error for each subject.
pub fn listings(
    subjects: &IdVec<SubjectId, Subject>,
    run: &Run,
    folder: &Path,
) -> Vec<(SubjectId, Result<Setting, String>)> {
    let has_listing = |id: SubjectId| {
        let mut settings = run.settings.iter();
        settings.any(|s| s.subject == id && s.key == Setting::LISTING)
    };
    let missing = subjects.enumerated().filter(|(id, _)| !has_listing(*id));
    let listed = missing.filter(|(_, subject)| subject.control_of.is_none());
    let listed = listed.filter_map(|(id, subject)| Some((id, subject.listing.as_deref()?)));
    let read = listed.map(|(id, path)| {
        let text = text(&folder.join(path)).map_err(|e| format!("its listing `{path}`: {e}"));
        let setting = |value| Setting {
            subject: id,
            point: None,
            key: Setting::LISTING.into(),
            value,
        };
        (id, text.map(setting))
    });
    read.collect()
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        Err(io::Error::other(format!("longer than {MAX_BYTES} bytes")))
    } else {
        Ok(text)
    }
}
