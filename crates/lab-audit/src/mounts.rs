// SPDX-License-Identifier: Apache-2.0
//! Mount points, as encoded in `/proc/mounts`.

/// Returns the mount points in the text of `/proc/mounts`.
pub fn mount_points(mounts: &str) -> impl Iterator<Item = String> {
    let folders = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    folders.map(unescape)
}

/// Decodes the octal escapes that `/proc/mounts` uses for whitespace and backslashes (getmntent(3)).
pub fn unescape(text: &str) -> String {
    let mut plain = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 4;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_read() {
        assert_eq!(unescape(r"/mnt/my\040disk\"), r"/mnt/my disk\");
        let mounts = "/dev/sda / btrfs rw 0 0\n/dev/sda /mnt/my\\040disk btrfs rw,subvol=/a 0 0\n";
        assert!(mount_points(mounts).eq(["/", "/mnt/my disk"]));
    }
}
