// SPDX-License-Identifier: Apache-2.0
//! Finds the processes that listen on a port (proc(5), /proc/net/tcp and /proc/PID/fd).

use lab_host::procfs;
use nix::unistd::Pid;
use std::collections::HashSet;
use std::fs;

/// The state of a listening socket in /proc/net/tcp.
const LISTEN: &str = "0A";

/// Returns the processes that listen on a TCP port.
///
/// If both a process and its descendants listen, returns only the process. Returns an error if no
/// process listens on the port, or if the current user may not see the listening processes.
pub fn listeners(port: u16) -> Result<Vec<Pid>, String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets: HashSet<String> = tables.iter().flat_map(|t| sockets(t, port)).collect();
    if sockets.is_empty() {
        return Err(format!(
            "no process is listening on port {port} on that machine: check that it is the server's machine"
        ));
    }
    let holds = |pid: &Pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        let links = files.filter_map(|file| fs::read_link(file.path()).ok());
        links
            .into_iter()
            .any(|link| sockets.contains(&*link.to_string_lossy()))
    };
    let holders: Vec<Pid> = procfs::all().into_iter().filter(holds).collect();
    let is_first = |pid: &Pid| {
        let mut ancestors = std::iter::successors(procfs::parent(*pid), |pid| procfs::parent(*pid));
        !ancestors.any(|ancestor| holders.contains(&ancestor))
    };
    let first: Vec<Pid> = holders.iter().copied().filter(is_first).collect();
    if first.is_empty() {
        Err(format!(
            "the process that listens on port {port} on that machine belongs to another user and cannot be identified: \
             specify it with --server-pid, or log in as that user"
        ))
    } else {
        Ok(first)
    }
}

/// Returns the sockets in a table that listen on a port, each in the format of a link target in
/// /proc/PID/fd, such as `socket:[12345]`.
fn sockets(table: &str, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let lines = table.lines().skip(1);
    let listening = lines.filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_match = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == LISTEN;
        is_match.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
    });
    listening.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn listeners_are_found() {
        // No other program takes a port below those that the kernel chooses (ip(7), `ip_local_port_range`).
        let first = 10_000 + std::process::id() as u16 % 20_000;
        let mut listeners_of_ports = (first..).map(|port| TcpListener::bind(("127.0.0.1", port)));
        let listener = listeners_of_ports.find_map(Result::ok).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(listeners(port).unwrap(), [Pid::this()]);
        drop(listener);
        assert!(
            listeners(port)
                .unwrap_err()
                .contains("no process is listening")
        );
    }
}
