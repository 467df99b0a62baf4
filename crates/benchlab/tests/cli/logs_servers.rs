// SPDX-License-Identifier: Apache-2.0
//! Logs that nginx, Apache and Tomcat write during `benchlab load`.
//!
//! The counts and bytes that `logs` reports equal the load generator's, and its durations equal the
//! durations in the log.

use crate::closed_port::closed_port;
use crate::load::web::{Behavior, Web};
use crate::project::{Project, wait_until};
use lab_model::{LoadCount, LogAnalysis, LogPage};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The duration of a slow response, in ms.
const SLOW_MS: u64 = 200;

/// The size of the body of `/plain.txt`, in bytes.
const BODY: usize = 5000;

/// A web server that runs in a private directory and logs durations.
///
/// It responds to `/plain.txt` immediately and to `/slow` slowly.
struct Server {
    child: Child,
    folder: tempfile::TempDir,
    port: u16,
    /// The signal that makes the server write its log and exit.
    ending: Signal,
}

impl Server {
    /// Starts the server in `folder`, which was prepared for the given port.
    fn start(
        command: &mut Command,
        folder: tempfile::TempDir,
        port: u16,
        ending: Signal,
    ) -> Server {
        let log = fs::File::create(folder.path().join("output")).unwrap();
        let output = log.try_clone().unwrap();
        let child = command.stdin(Stdio::null()).stdout(output).stderr(log);
        let child = child.spawn().unwrap();
        let server = Server {
            child,
            folder,
            port,
            ending,
        };
        wait_until("the web server answers", || server.responds());
        server
    }

    fn responds(&self) -> bool {
        std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Stops the server, so that its log is complete.
    fn end(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id() as i32), self.ending);
        let _ = self.child.wait();
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("access.log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a directory with `www/plain.txt`. The server's worker processes, which run as another
/// user, can read it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let open = PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).unwrap();
    fs::create_dir(folder.path().join("www")).unwrap();
    fs::write(folder.path().join("www/plain.txt"), "p".repeat(BODY)).unwrap();
    folder
}

/// Returns the first file in `paths` that exists.
fn first_existing(name: &str, paths: &[&'static str]) -> Option<&'static str> {
    let found = paths.iter().copied().find(|path| Path::new(path).exists());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed");
    }
    found
}

fn nginx(slow: &Web) -> Option<Server> {
    let program = first_existing("nginx", &["/usr/sbin/nginx", "/usr/bin/nginx"])?;
    let (folder, port) = (folder(), closed_port());
    let at = folder.path().display();
    let config = format!(
        r#"daemon off; pid {at}/pid; error_log {at}/error.log; worker_processes 1; events {{}}
http {{
  log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent" $request_time';
  access_log {at}/access.log timed; root {at}/www; keepalive_requests 1000000;
  client_body_temp_path {at}/tmp; proxy_temp_path {at}/tmp; fastcgi_temp_path {at}/tmp; uwsgi_temp_path {at}/tmp; scgi_temp_path {at}/tmp;
  server {{ listen 127.0.0.1:{port}; location /slow {{ proxy_pass http://{}; }} }}
}}
"#,
        slow.address
    );
    fs::write(folder.path().join("nginx.conf"), config).unwrap();
    let mut command = Command::new(program);
    command.arg("-c").arg(folder.path().join("nginx.conf"));
    command.arg("-p").arg(folder.path());
    Some(Server::start(&mut command, folder, port, Signal::SIGQUIT))
}

fn apache(slow: &Web) -> Option<Server> {
    const MODULES: &str = "/usr/lib/apache2/modules";
    let program = first_existing("Apache", &["/usr/sbin/apache2"])?;
    let (folder, port) = (folder(), closed_port());
    let at = folder.path().display();
    let modules = ["mpm_event", "authz_core", "proxy", "proxy_http"]
        .map(|name| format!("LoadModule {name}_module {MODULES}/mod_{name}.so\n"));
    let user = match Uid::effective().is_root() {
        true => "User www-data\nGroup www-data\n",
        false => "",
    };
    let config = format!(
        r#"{}{user}ServerRoot {at}
DefaultRuntimeDir {at}
PidFile {at}/pid
ErrorLog {at}/error.log
Listen 127.0.0.1:{port}
ServerName 127.0.0.1
MaxKeepAliveRequests 0
GracefulShutdownTimeout 5
DocumentRoot {at}/www
<Directory {at}/www>
Require all granted
</Directory>
ProxyPass /slow http://{}/slow
LogFormat "%h %l %u %t \"%r\" %>s %O \"%{{Referer}}i\" \"%{{User-Agent}}i\" %D" timed
CustomLog {at}/access.log timed
"#,
        modules.concat(),
        slow.address
    );
    fs::write(folder.path().join("httpd.conf"), config).unwrap();
    let mut command = Command::new(program);
    command.arg("-f").arg(folder.path().join("httpd.conf"));
    command.arg("-DFOREGROUND");
    // A graceful stop (Apache HTTP Server 2.4, *Stopping and Restarting*).
    Some(Server::start(&mut command, folder, port, Signal::SIGWINCH))
}

/// Starts Tomcat 10.1, whose `%D` is in µs. The slow page is a CGI script.
fn tomcat() -> Option<Server> {
    const HOME: &str = "/usr/share/tomcat10";
    first_existing("Tomcat", &["/usr/share/tomcat10/bin/bootstrap.jar"])?;
    first_existing("Java", &["/usr/bin/java"])?;
    let (folder, port) = (folder(), closed_port());
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    fs::create_dir(folder.path().join("temp")).unwrap();
    write(
        "conf/server.xml",
        &TOMCAT_SERVER.replace("PORT", &port.to_string()),
    );
    write("conf/web.xml", TOMCAT_WEB);
    write(
        "www/META-INF/context.xml",
        "<Context privileged=\"true\" />\n",
    );
    let script = format!(
        "sleep 0.{SLOW_MS}\nprintf 'Content-Type: text/plain\\r\\nContent-Length: 4\\r\\n\\r\\nslow'\n"
    );
    write("www/WEB-INF/cgi/slow", &script);
    let at = folder.path().display();
    let mut command = Command::new("/usr/bin/java");
    command.arg("-cp").arg(format!(
        "{HOME}/bin/bootstrap.jar:{HOME}/bin/tomcat-juli.jar"
    ));
    command.arg(format!("-Dcatalina.home={HOME}"));
    command.arg(format!("-Dcatalina.base={at}"));
    command.arg(format!("-Djava.io.tmpdir={at}/temp"));
    command.args(["org.apache.catalina.startup.Bootstrap", "start"]);
    Some(Server::start(&mut command, folder, port, Signal::SIGTERM))
}

const TOMCAT_SERVER: &str = r#"<Server port="-1">
  <Service name="Catalina">
    <Connector port="PORT" address="127.0.0.1" maxKeepAliveRequests="-1" />
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="apps">
        <Context path="" docBase="${catalina.base}/www" privileged="true" />
        <Valve className="org.apache.catalina.valves.AccessLogValve" directory="${catalina.base}" prefix="access"
            suffix=".log" fileDateFormat="" rotatable="false"
            pattern="%h %l %u %t &quot;%r&quot; %s %b &quot;%{Referer}i&quot; &quot;%{User-Agent}i&quot; %D" />
      </Host>
    </Engine>
  </Service>
</Server>
"#;

const TOMCAT_WEB: &str = r#"<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
  <servlet>
    <servlet-name>default</servlet-name>
    <servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class>
  </servlet>
  <servlet>
    <servlet-name>cgi</servlet-name>
    <servlet-class>org.apache.catalina.servlets.CGIServlet</servlet-class>
    <init-param><param-name>cgiPathPrefix</param-name><param-value>WEB-INF/cgi</param-value></init-param>
    <init-param><param-name>executable</param-name><param-value>/bin/sh</param-value></init-param>
    <init-param><param-name>passShellEnvironment</param-name><param-value>true</param-value></init-param>
  </servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
  <servlet-mapping><servlet-name>cgi</servlet-name><url-pattern>/slow/*</url-pattern></servlet-mapping>
</web-app>
"#;

/// The counts of the load generator.
struct Load {
    served: u64,
    received_bytes: u64,
}

/// Puts one page under load.
fn load(url: &str) -> Load {
    let project = Project::noop(&[]);
    // Waits for the server, whose first response may be slow.
    let words = "--for 2s --connections 4 --redo 0 --seed 7 --timeout 60s";
    let words: Vec<&str> = words.split(' ').collect();
    project
        .call(&[&["load", url], &words[..]].concat())
        .expect(0);
    let run = project.load();
    let slices = || run.blocks.iter().flat_map(|block| &block.slices);
    assert!(slices().all(|s| s.errors.is_empty()), "errors at {url}");
    Load {
        served: slices().map(|s| s.served).sum(),
        received_bytes: slices().map(|s| s.counts[LoadCount::ReceivedBytes]).sum(),
    }
}

/// Analyzes the server's log with `benchlab logs`.
fn read(server: &Server) -> LogAnalysis {
    let project = Project::noop(&[]);
    let log = server.log().display().to_string();
    project.call(&["logs", &log]).expect(0);
    project.load().logs().unwrap().clone()
}

fn page<'w>(analysis: &'w LogAnalysis, name: &str) -> &'w LogPage {
    let mut pages = analysis.pages.iter();
    let names = || analysis.pages.iter().map(|p| &p.name).collect::<Vec<_>>();
    pages
        .find(|p| p.name == name)
        .unwrap_or_else(|| panic!("no {name}: {:?}", names()))
}

/// Returns the durations of a page in a log, ascending, in ns. The duration is the last word of a
/// line.
fn durations(log: &Path, page: &str, ns: fn(&str) -> u64) -> Vec<u64> {
    let text = fs::read_to_string(log).unwrap();
    let request = format!("\"GET {page} HTTP/1.1\"");
    let lines = text.lines().filter(|line| line.contains(&request));
    let mut durations: Vec<u64> = lines
        .map(|line| ns(line.rsplit(' ').next().unwrap()))
        .collect();
    durations.sort_unstable();
    durations
}

/// Parses whole microseconds and returns ns.
fn microseconds(text: &str) -> u64 {
    text.parse::<u64>().unwrap() * 1_000
}

/// Parses seconds with three decimals and returns ns.
fn seconds(text: &str) -> u64 {
    let (whole, decimals) = text.split_once('.').unwrap();
    assert_eq!(decimals.len(), 3);
    format!("{whole}{decimals}").parse::<u64>().unwrap() * 1_000_000
}

/// Puts both pages of a server under load, and compares the log analysis with the generator's counts and the
/// log's durations.
///
/// If `counts_heads` is set, the log also counts the bytes of headers.
fn compare(mut server: Server, slow: &str, counts_heads: bool, ns: fn(&str) -> u64) {
    let loads = ["/plain.txt", slow].map(|path| load(&server.url(path)));
    server.end();
    let analysis = read(&server);
    let pages = ["/plain.txt", slow].map(|name| page(&analysis, name));
    for (load, page) in loads.iter().zip(pages) {
        let name = &page.name;
        // One request before the load checks whether the server responds.
        assert_eq!(page.requests, load.served + 1, "{name}");
        assert_eq!((page.errors, page.client_errors), (0, 0), "{name}");
        if counts_heads {
            let response_bytes = load.received_bytes / load.served;
            let first = page.bytes - load.received_bytes;
            // A word in the response header may differ.
            assert!(
                first.abs_diff(response_bytes) < 40,
                "{name}: {first}, {response_bytes}"
            );
        }
    }
    if !counts_heads {
        assert_eq!(pages[0].bytes, BODY as u64 * pages[0].requests);
    }
    for page in pages {
        let (name, durations) = (&page.name, durations(&server.log(), &page.name, ns));
        let count = durations.len();
        assert_eq!(page.timed as usize, count, "{name}");
        assert_eq!(page.total_ns, durations.iter().sum::<u64>(), "{name}");
        assert_eq!(page.max_ns, durations[count - 1], "{name}");
        for part in [0.5, 0.9, 0.95] {
            let exact = durations[(count as f64 * part).ceil() as usize - 1] as f64;
            let found = page.times.quantile(part).unwrap() as f64;
            assert!(
                (found - exact).abs() <= exact * analysis.error + 1.0,
                "{name} {part}: {found}, and {exact} in the log"
            );
        }
    }
}

#[test]
fn the_log_of_nginx_matches_the_load() {
    let slow = Web::new(Behavior::Slow(SLOW_MS));
    if let Some(server) = nginx(&slow) {
        compare(server, "/slow", true, seconds);
    }
}

#[test]
fn the_log_of_apache_matches_the_load() {
    let slow = Web::new(Behavior::Slow(SLOW_MS));
    if let Some(server) = apache(&slow) {
        compare(server, "/slow", true, microseconds);
    }
}

#[test]
fn the_log_of_tomcat_matches_the_load() {
    if let Some(server) = tomcat() {
        compare(server, "/slow/slow", false, microseconds);
    }
}
