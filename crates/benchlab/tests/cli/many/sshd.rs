// SPDX-License-Identifier: Apache-2.0
//! A private `sshd` on the loopback interface, with keys created for the test and a client configuration.

use crate::closed_port::closed_port;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// A running `sshd`. It stops when this value is dropped.
pub struct Sshd {
    folder: TempDir,
    child: Child,
}

impl Sshd {
    /// Starts the server with the given hosts. Each host has a command that runs instead of the
    /// requested command (sshd(8), `command=`).
    ///
    /// A host with an empty command runs the requested command. If sshd is not installed, returns
    /// `None` and reports this on standard error.
    pub fn start(hosts: &[(&str, &str)]) -> Option<Sshd> {
        if !Path::new(SSHD).exists() {
            assert!(
                std::env::var_os("CI").is_none(),
                "CI must test with ssh: `make setup` installs it"
            );
            eprintln!("ssh is not tried out: {SSHD} is not there; `make setup` installs it");
            return None;
        }
        // Debian's own service creates the directory when it starts.
        let _ = fs::create_dir("/run/sshd");
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        make_key(&at("host"));
        fs::create_dir(at("tmp")).unwrap();
        fs::create_dir(at("bin")).unwrap();
        let port = closed_port();
        let path_text = |name: &str| at(name).display().to_string();
        // A separate key for each host, so that each host has its own command.
        let mut keys = String::new();
        let mut client = String::new();
        for host in hosts {
            let key = format!("user-{}", host.0);
            make_key(&at(&key));
            let public = fs::read_to_string(at(&format!("{key}.pub"))).unwrap();
            let options = match host.1 {
                "" => String::new(),
                command => format!("command=\"{}\" ", command.replace('"', "\\\"")),
            };
            keys += &format!("{options}{public}");
            client += &format!(
                "Host {}\nHostName 127.0.0.1\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\n\
                 UserKnownHostsFile {}\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n",
                host.0,
                path_text(&key),
                path_text("known"),
            );
        }
        fs::write(at("keys"), keys).unwrap();
        fs::write(at("client"), client).unwrap();
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", path_text("bin"));
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv TMPDIR={} PATH={path}\n",
            path_text("host"),
            path_text("keys"),
            path_text("tmp"),
        );
        fs::write(at("server"), config).unwrap();
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(at("server"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("sshd starts");
        let sshd = Sshd { folder, child };
        crate::project::wait_until("sshd", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(sshd)
    }

    /// Returns the value of BENCHLAB_SSH.
    pub fn client(&self) -> String {
        format!("ssh -F {}", self.folder.path().join("client").display())
    }

    /// Installs a program into the hosts' PATH.
    pub fn install(&self, name: &str, script: &str) {
        let path = self.bin().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns a directory in the hosts' PATH.
    pub fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    /// Returns the hosts' directory for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Returns the files in the directory for temporary files.
    pub fn left_behind(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.temporary()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn make_key(path: &Path) {
    let mut command = Command::new("ssh-keygen");
    command
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path);
    assert!(command.status().unwrap().success());
}
