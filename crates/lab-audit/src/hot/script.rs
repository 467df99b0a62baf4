// SPDX-License-Identifier: Apache-2.0
//! The script that moves directories to the fast disk. Only the user runs it, never benchlab.

use super::fstab::escape;
use super::plan::{HotTarget, Placement, WatchedFolder};
use crate::wording;

/// Builds the script, or explains why it cannot be built.
pub fn script(folders: &[WatchedFolder], fast: &HotTarget) -> Result<String, String> {
    let placed = |placement: Placement| {
        folders
            .iter()
            .filter(move |folder| folder.placement == placement)
    };
    let names = placed(Placement::Fast).map(|folder| folder.path.to_string_lossy().into_owned());
    let names = retain_outermost(names.collect());
    if names.is_empty() && placed(Placement::Memory).next().is_none() {
        return Err(wording::NOTHING_TO_MOVE.into());
    }
    let Some(uuid) = &fast.uuid else {
        return Err(wording::no_uuid(&fast.folder));
    };
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Moves directories with many reads to the fast filesystem. First stop the programs that use them."
            .into(),
        "# Without an argument, this script shows what it would do; with --go, it moves the directories. Read it first."
            .into(),
        "set -eu".into(),
        format!("fast={}", quote(&fast.folder.to_string_lossy())),
        format!("uuid={}", quote(uuid)),
    ];
    lines.push(include_str!("../../data/move.sh").trim_end().replacen(
        "# SPDX-License-Identifier: Apache-2.0\n",
        "",
        1,
    ));
    lines.extend(fast_line(fast, uuid));
    lines.extend(names.iter().map(|name| format!("move {}", quote(name))));
    lines.extend(placed(Placement::Memory).flat_map(in_memory));
    Ok(lines.join("\n") + "\n")
}

/// Returns the script lines that add the fast filesystem to fstab. The machine still boots if that filesystem is
/// missing.
fn fast_line(fast: &HotTarget, uuid: &str) -> Vec<String> {
    let mount = escape(&fast.mount.to_string_lossy());
    if mount == "/" {
        return Vec::new();
    }
    let line = format!(
        "UUID={uuid} {mount} {} noatime,nofail,x-systemd.device-timeout=30s 0 2",
        fast.kind
    );
    let patterns = [
        format!("^UUID={uuid}"),
        format!("^[^#].*[[:space:]]{mount}[[:space:]]"),
    ];
    let [by_uuid, by_mount] = patterns.map(|pattern| quote(&pattern));
    vec![
        "# The fast filesystem itself, unless it is in fstab.".into(),
        format!(
            "grep -q -e {by_uuid} -e {by_mount} \"$fstab\" || line {}",
            quote(&line)
        ),
    ]
}

fn in_memory(folder: &WatchedFolder) -> [String; 2] {
    let name = printable(&folder.path.to_string_lossy());
    [
        format!("# In memory after the next boot; the current content of {name} is then hidden."),
        format!("line {}", quote(&folder.tmpfs())),
    ]
}

/// Removes directories inside other directories of the list, since they move together.
fn retain_outermost(names: Vec<String>) -> Vec<String> {
    let within = |name: &String| {
        let in_other = |other: &String| name != other && name.starts_with(&format!("{other}/"));
        names.iter().any(in_other)
    };
    names.iter().filter(|name| !within(name)).cloned().collect()
}

/// Quotes a text as a single shell word.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Replaces control characters, so that the text cannot end a comment.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{fast, folder};
    use super::*;
    use std::process::Command;

    fn placed(path: &str, placement: Placement) -> WatchedFolder {
        let mut folder = folder(path, 100, 9.0, 0.0);
        folder.placement = placement;
        folder
    }

    #[test]
    fn a_script_moves_the_outermost_folders_and_quotes_every_name() {
        let folders = [
            placed("/srv/it's $(touch x)", Placement::Fast),
            placed("/srv/a b", Placement::Fast),
            placed("/srv/a b/inner", Placement::Fast),
            placed("/srv/my cache", Placement::Memory),
            placed("/srv/written", Placement::Off),
        ];
        let text = script(&folders, &fast()).expect("a script");
        let moves: Vec<&str> = text.lines().filter(|l| l.starts_with("move '")).collect();
        assert_eq!(
            moves,
            [r"move '/srv/it'\''s $(touch x)'", "move '/srv/a b'"]
        );
        for line in [
            "set -eu",
            "uuid='1234-abcd'",
            "rsync -aAXH --numeric-ids",
            "sha256sum",
            r"line 'tmpfs /srv/my\040cache tmpfs size=400m,nosuid,nodev,nofail,x-systemd.before=local-fs.target,mode=0750,uid=33,gid=34 0 0'",
            "line 'UUID=1234-abcd /mnt/ssd ext4 noatime,nofail,x-systemd.device-timeout=30s 0 2'",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        let checked = Command::new("sh").arg("-n").arg(file.path()).output();
        let checked = checked.expect("a shell");
        assert!(checked.status.success(), "{checked:?}");
    }

    #[test]
    fn without_directories_to_move_there_is_no_script() {
        let folders = [
            placed("/srv/a", Placement::Here),
            placed("/srv/b", Placement::Off),
        ];
        assert_eq!(
            script(&folders, &fast()).expect_err("no script"),
            wording::NOTHING_TO_MOVE
        );
        let mut unknown = fast();
        unknown.uuid = None;
        let refused = script(&[placed("/srv/a", Placement::Fast)], &unknown);
        assert!(refused.expect_err("no script").contains("finds no UUID"));
    }
}
