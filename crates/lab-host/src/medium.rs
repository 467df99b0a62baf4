// SPDX-License-Identifier: Apache-2.0
//! Detects the medium of a block device: flash, a platter, a hypervisor or a file.

use crate::Root;

/// The kind of storage behind a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Flash with an NVMe interface.
    Nvme,
    /// Other flash.
    Flash,
    /// A spinning disk.
    Spinning,
    /// A virtual device of the named hypervisor or cloud.
    Virtual(&'static str),
    /// A file on another filesystem, with its path.
    File(String),
}

/// Substrings of the model names of virtual devices, with their hypervisor or cloud.
///
/// A device that a hypervisor passes through reports the model name of its manufacturer. It does
/// not count as virtual.
const MODELS: [(&str, &str); 9] = [
    ("QEMU", "QEMU"),
    ("VMware", "VMware"),
    ("VBOX", "VirtualBox"),
    ("Msft", "Hyper-V"),
    ("MSFT NVMe Accelerator", "Azure"),
    ("Elastic Block Store", "Amazon EBS"),
    ("PersistentDisk", "Google Cloud"),
    ("nvme_card-pd", "Google Cloud"),
    ("Virtual", "virtual"),
];

impl Medium {
    /// Finds the medium of a disk, such as `sda`, from its name, its model and the kernel's data.
    pub fn detect(root: &Root, disk: &str) -> Medium {
        let line = |file: &str| root.line(&format!("sys/block/{disk}/{file}"));
        if disk.starts_with("loop") {
            return Medium::File(line("loop/backing_file").unwrap_or_default());
        }
        if let Some(vendor) = hypervisor(root, disk) {
            return Medium::Virtual(vendor);
        }
        let rotational = root.number(&format!("sys/block/{disk}/queue/rotational"));
        match rotational {
            _ if disk.starts_with("nvme") => Medium::Nvme,
            Some(1..) => Medium::Spinning,
            _ => Medium::Flash,
        }
    }

    /// Returns the name of the medium in audit rules.
    pub fn word(&self) -> &'static str {
        match self {
            Medium::Nvme => "nvme",
            Medium::Flash => "flash",
            Medium::Spinning => "spinning",
            Medium::Virtual(_) => "virtual",
            Medium::File(_) => "file",
        }
    }

    /// Returns true if the medium wears out, because each block can be written only a limited number of times.
    pub fn has_limited_writes(&self) -> bool {
        matches!(self, Medium::Nvme | Medium::Flash)
    }
}

/// Returns the hypervisor or cloud of a virtual device, or `None` if the device is not virtual.
fn hypervisor(root: &Root, disk: &str) -> Option<&'static str> {
    if disk.starts_with("vd") {
        return Some("virtio");
    }
    if disk.starts_with("xvd") {
        return Some("Xen");
    }
    let line = |file: &str| root.line(&format!("sys/block/{disk}/device/{file}"));
    let words = ["vendor", "model"].map(|file| line(file).unwrap_or_default());
    let model = words.join(" ");
    let mut models = MODELS.iter();
    models.find(|(part, _)| model.contains(part)).map(|m| m.1)
}

/// Explains why reads of a disk may come from a cache outside of the kernel's control.
///
/// Returns `None` for a physical disk.
pub fn not_a_disk(disk: &str) -> Option<String> {
    match Medium::detect(&Root::live(), disk) {
        Medium::Virtual(vendor) => Some(format!(
            "a hypervisor's device ({vendor}): reads may come from the hypervisor's cache"
        )),
        Medium::File(path) => Some(format!(
            "a file ({path}): reads may come from the cache of its filesystem"
        )),
        Medium::Nvme | Medium::Flash | Medium::Spinning => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_medium_follows_from_name_and_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::copy(folder.path());
        let medium_of = |disk: &str, model: &str, rotational: &str| {
            let block = folder.path().join("sys/block").join(disk);
            for (file, text) in [("device/model", model), ("queue/rotational", rotational)] {
                let file = block.join(file);
                fs::create_dir_all(file.parent().expect("a folder")).expect("made");
                fs::write(file, text).expect("written");
            }
            Medium::detect(&root, disk)
        };
        assert_eq!(medium_of("sda", "Samsung SSD 870", "0"), Medium::Flash);
        assert_eq!(medium_of("sdb", "ST8000VN004", "1"), Medium::Spinning);
        assert_eq!(
            medium_of("sdc", "QEMU HARDDISK   ", "1"),
            Medium::Virtual("QEMU")
        );
        assert_eq!(
            medium_of("sdd", "Virtual disk", "1"),
            Medium::Virtual("virtual")
        );
        assert_eq!(
            medium_of("nvme0n1", "Samsung SSD 990 PRO", "0"),
            Medium::Nvme
        );
        let ebs = medium_of("nvme1n1", "Amazon Elastic Block Store", "0");
        assert_eq!(ebs, Medium::Virtual("Amazon EBS"));
        let instance_store = medium_of("nvme2n1", "Amazon EC2 NVMe Instance Storage", "0");
        assert_eq!(instance_store, Medium::Nvme, "a disk of the machine itself");
        assert_eq!(medium_of("vda", "", "0"), Medium::Virtual("virtio"));
        assert_eq!(medium_of("xvda", "", "0"), Medium::Virtual("Xen"));
        let loop0 = folder.path().join("sys/block/loop0/loop");
        fs::create_dir_all(&loop0).expect("made");
        fs::write(loop0.join("backing_file"), "/srv/image\n").expect("written");
        let loop_medium = Medium::detect(&root, "loop0");
        assert_eq!(loop_medium, Medium::File("/srv/image".into()));
        assert_eq!(
            (loop_medium.word(), loop_medium.has_limited_writes()),
            ("file", false)
        );
    }
}
