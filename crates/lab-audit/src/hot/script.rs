// SPDX-License-Identifier: Apache-2.0
//! The script that moves folders to the fast disk. It is given to the reader, and never run here.

use super::plan::{Fast, Folder, Placement};

/// The script, where there is something to move.
pub fn script(folders: &[Folder], fast: &Fast) -> Option<String> {
    let names = |place: Placement| {
        let of = folders.iter().filter(move |folder| folder.place == place);
        of.map(|folder| folder.path.to_string_lossy().into_owned())
    };
    let names_fast: Vec<String> = outermost(names(Placement::Fast).collect());
    let memory: Vec<String> = names(Placement::Memory).collect();
    if names_fast.is_empty() && memory.is_empty() {
        return None;
    }
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Moves folders that are read much to the fast filesystem. Stop what uses them first."
            .into(),
        "# Without an argument it says what it would do; with --go it does it. Read it before."
            .into(),
        "set -eu".into(),
        format!("fast={}", quoted(&fast.folder.to_string_lossy())),
        format!("uuid={}", quoted(&fast.uuid)),
    ];
    lines.push(include_str!("../../data/move.sh").trim_end().replacen(
        "# SPDX-License-Identifier: Apache-2.0\n",
        "",
        1,
    ));
    let mount = fast.mount.to_string_lossy();
    if mount != "/" {
        lines.push("# The fast filesystem itself, unless fstab has it.".into());
        let line = format!(
            "UUID={} {} {} noatime 0 2",
            fast.uuid,
            escaped(&mount),
            fast.kind
        );
        lines.push(format!(
            "grep -q -e {} -e {} \"$fstab\" || line {}",
            quoted(&format!("^UUID={}", fast.uuid)),
            quoted(&format!("^[^#].*[[:space:]]{}[[:space:]]", escaped(&mount))),
            quoted(&line)
        ));
    }
    lines.extend(
        names_fast
            .iter()
            .map(|name| format!("move {}", quoted(name))),
    );
    for (name, folder) in memory
        .iter()
        .zip(folders.iter().filter(|f| f.place == Placement::Memory))
    {
        let size = (folder.size.unwrap_or(0) * 4).max(64 << 20) >> 20;
        let line = format!(
            "tmpfs {} tmpfs size={size}m,nosuid,nodev,mode=1777 0 0",
            escaped(name)
        );
        lines.push(format!(
            "# In memory from the next start on; what is in {} now is then not seen.",
            shown(name)
        ));
        lines.push(format!("line {}", quoted(&line)));
    }
    Some(lines.join("\n") + "\n")
}

/// What lies in another folder of the list moves with it.
fn outermost(names: Vec<String>) -> Vec<String> {
    let within = |name: &String| {
        let in_other = |other: &String| name != other && name.starts_with(&format!("{other}/"));
        names.iter().any(in_other)
    };
    names.iter().filter(|name| !within(name)).cloned().collect()
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// In a comment, which ends with its line.
fn shown(text: &str) -> String {
    text.replace(char::is_control, "?")
}

/// fstab(5): white space and backslashes as octal numbers.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\134")
        .replace(' ', r"\040")
        .replace('\t', r"\011")
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{fast, folder};
    use super::*;
    use std::process::Command;

    fn placed(path: &str, place: Placement) -> Folder {
        let mut folder = folder(path, 100, 9.0, 0.0);
        folder.place = place;
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
        let made = script(&folders, &fast()).expect("a script");
        let moves: Vec<&str> = made.lines().filter(|l| l.starts_with("move '")).collect();
        assert_eq!(
            moves,
            [r"move '/srv/it'\''s $(touch x)'", "move '/srv/a b'"]
        );
        for line in [
            "set -eu",
            "uuid='1234-abcd'",
            "rsync -aAXH --numeric-ids",
            "sha256sum",
            r"line 'tmpfs /srv/my\040cache tmpfs size=400m,nosuid,nodev,mode=1777 0 0'",
            "line 'UUID=1234-abcd /mnt/ssd ext4 noatime 0 2'",
        ] {
            assert!(made.contains(line), "{line}: {made}");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), made).expect("written");
        let checked = Command::new("sh").arg("-n").arg(file.path()).output();
        let checked = checked.expect("a shell");
        assert!(checked.status.success(), "{checked:?}");
    }

    #[test]
    fn where_nothing_moves_there_is_no_script() {
        let folders = [
            placed("/srv/a", Placement::Here),
            placed("/srv/b", Placement::Off),
        ];
        assert!(script(&folders, &fast()).is_none());
    }
}
