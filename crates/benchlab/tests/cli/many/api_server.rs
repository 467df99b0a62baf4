// SPDX-License-Identifier: Apache-2.0
//! A fake Kubernetes API server for Jobs with one pod. The command of a container runs locally
//! after a client has attached.

use super::attached::{self, Attached};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// The behavior of pods.
#[derive(Clone, Copy, PartialEq)]
pub enum Pods {
    Run,
    /// No node has room for the pod. The number of full nodes grows with every response.
    Wait,
    /// The image does not exist.
    Fail,
}

/// A running API server. It stops when this value is dropped.
pub struct ApiServer {
    folder: TempDir,
    shared: Arc<Shared>,
}

struct Shared {
    pods: Pods,
    jobs: Mutex<BTreeMap<String, LoadJob>>,
    /// Every Job, as it was created.
    created: Mutex<Vec<Value>>,
    /// The directory for temporary files of containers.
    node: PathBuf,
    nodes: AtomicU32,
}

struct LoadJob {
    object: Value,
    attached: Option<Attached>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    key: Option<String>,
    body: Vec<u8>,
}

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// The random part of each pod's name.
const POD: &str = "-x7k2p";

impl ApiServer {
    /// Starts the server.
    ///
    /// If no recent `kubectl` is installed, returns `None` and reports this on standard error.
    pub fn start(pods: Pods) -> Option<ApiServer> {
        if !has_client() {
            eprintln!("Kubernetes is not tried out: there is no kubectl of version 1.31 or newer");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let node = folder.path().join("node");
        fs::create_dir(&node).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "t",
            "clusters": [{"name": "t", "cluster": {"server": format!("http://{address}")}}],
            "contexts": [{"name": "t", "context": {"cluster": "t", "user": "t"}}],
            "users": [{"name": "t", "user": {}}],
        });
        fs::write(folder.path().join("config"), config.to_string()).unwrap();
        let shared = Arc::new(Shared {
            pods,
            jobs: Mutex::default(),
            created: Mutex::default(),
            node,
            nodes: AtomicU32::new(0),
        });
        let all = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let all = all.clone();
                thread::spawn(move || all.serve(stream));
            }
        });
        Some(ApiServer { folder, shared })
    }

    /// Sets the environment that makes a command use this server.
    pub fn configure(&self, command: &mut Command) {
        command.env("KUBECONFIG", self.folder.path().join("config"));
        command.env("HOME", self.folder.path());
    }

    /// Returns the names of the existing Jobs.
    pub fn jobs(&self) -> Vec<String> {
        self.shared.jobs().keys().cloned().collect()
    }

    /// Returns the number of full nodes in the latest response.
    pub fn full_nodes(&self) -> u32 {
        self.shared.nodes.load(Relaxed)
    }

    /// Returns every Job as it was created.
    pub fn created_jobs(&self) -> Vec<Value> {
        self.shared.created.lock().unwrap().clone()
    }

    /// Returns the processes of containers.
    pub fn containers(&self) -> Vec<i32> {
        let jobs = self.shared.jobs();
        let attached = jobs.values().filter_map(|job| job.attached.as_ref());
        attached.map(Attached::pid).collect()
    }

    /// Returns the files that containers left behind.
    pub fn left_behind(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.shared.node).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Returns true if kubectl 1.31 or newer, which uses WebSockets, is installed.
fn has_client() -> bool {
    let mut command = Command::new("kubectl");
    command.args(["version", "--client", "--output=json"]);
    let Ok(output) = command.output() else {
        return false;
    };
    let version: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let minor = version["clientVersion"]["minor"]
        .as_str()
        .unwrap_or_default();
    let minor = minor.trim_end_matches('+').parse();
    minor.is_ok_and(|minor: u32| minor >= 31)
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<String, LoadJob>> {
        self.jobs.lock().unwrap()
    }

    /// Serves requests on one connection until it closes.
    fn serve(&self, stream: TcpStream) {
        let mut input = BufReader::new(stream.try_clone().unwrap());
        let mut out = stream;
        while let Ok(Some(request)) = read(&mut input) {
            let watches = request.query.contains("watch=true") || request.query.contains("watch=1");
            let written = match (watches, &request.key) {
                (_, Some(key)) => {
                    self.attach(&request, key, input, out);
                    return;
                }
                (true, None) => return self.watch(&request, &mut out),
                (false, None) => {
                    let (status, response) = self.respond(&request);
                    write(&mut out, status, &response)
                }
            };
            if written.is_err() {
                return;
            }
        }
    }

    fn respond(&self, request: &Request) -> (u16, Value) {
        let path = request.path.as_str();
        if let Some(response) = discovery(path) {
            return (200, response);
        }
        let job = path
            .strip_prefix(JOBS)
            .map(|rest| rest.trim_start_matches('/'));
        let pod = path
            .strip_prefix(PODS)
            .map(|rest| rest.trim_start_matches('/'));
        match (request.method.as_str(), job, pod) {
            ("POST", Some(""), _) => self.make(&request.body),
            ("GET", Some(name), _) => match self.jobs().get(name) {
                Some(job) => (200, job.object.clone()),
                None => not_found("jobs", name),
            },
            ("DELETE", Some(name), _) => match self.jobs().remove(name) {
                Some(job) => {
                    job.attached.iter().for_each(Attached::kill);
                    (
                        200,
                        json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
                    )
                }
                None => not_found("jobs", name),
            },
            ("GET", _, Some("")) => {
                let job = selected_job(&request.query);
                let is_there = self.jobs().contains_key(&job);
                let pods: Vec<Value> = is_there
                    .then(|| self.pod(&job, false))
                    .into_iter()
                    .collect();
                let metadata = json!({"resourceVersion": "1"});
                let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": pods});
                (200, list)
            }
            ("GET", _, Some(name)) => {
                let job = name.trim_end_matches(POD);
                let is_there = self.jobs().contains_key(job);
                match is_there {
                    true => (200, self.pod(job, true)),
                    false => not_found("pods", name),
                }
            }
            _ => not_found("things", path),
        }
    }

    fn make(&self, body: &[u8]) -> (u16, Value) {
        let mut object: Value = serde_json::from_slice(body).unwrap();
        object["metadata"]["namespace"] = "default".into();
        object["metadata"]["uid"] = "5f0c".into();
        self.created.lock().unwrap().push(object.clone());
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let job = LoadJob {
            object: object.clone(),
            attached: None,
        };
        self.jobs().insert(name, job);
        (201, object)
    }

    /// Returns the pod of a Job. If `is_begun` is false, its container is still being created.
    fn pod(&self, job: &str, is_begun: bool) -> Value {
        let waiting =
            |reason: &str| json!({"waiting": {"reason": reason, "message": "so it is here"}});
        let (phase, state) = match (self.pods, is_begun) {
            (Pods::Run, true) => (
                "Running",
                json!({"running": {"startedAt": "2026-11-25T10:00:00Z"}}),
            ),
            (Pods::Fail, true) => ("Pending", waiting("ImagePullBackOff")),
            _ => ("Pending", waiting("ContainerCreating")),
        };
        let conditions = match self.pods {
            Pods::Wait => {
                let nodes = self.nodes.fetch_add(1, Relaxed) + 1;
                json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                        "message": format!("0/{nodes} nodes are available: {nodes} Insufficient cpu.")}])
            }
            _ => json!([]),
        };
        let containers = self
            .jobs()
            .get(job)
            .map(|job| job.object["spec"]["template"]["spec"]["containers"].clone());
        json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {
                "name": format!("{job}{POD}"), "namespace": "default", "resourceVersion": "2",
                "labels": {"job-name": job},
            },
            "spec": {"containers": containers},
            "status": {
                "phase": phase, "conditions": conditions,
                "containerStatuses": [{"name": "benchlab", "state": state}],
            },
        })
    }

    /// Sends a single change. If pods are waiting, sends changes until the client disconnects.
    fn watch(&self, request: &Request, out: &mut TcpStream) {
        let job = selected_job(&request.query);
        let mut next = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
        while out.write_all(next.as_bytes()).is_ok() {
            thread::sleep(Duration::from_millis(50));
            let event = json!({"type": "MODIFIED", "object": self.pod(&job, true)}).to_string();
            next = format!("{:x}\r\n{event}\n\r\n", event.len() + 1);
            if self.pods != Pods::Wait {
                let _ = out.write_all(next.as_bytes());
                let _ = io::copy(out, &mut io::sink());
                return;
            }
        }
    }

    fn attach(
        &self,
        request: &Request,
        key: &str,
        input: impl Read + Send + 'static,
        out: TcpStream,
    ) {
        let name = request
            .path
            .trim_start_matches(PODS)
            .trim_start_matches('/');
        let job = name
            .trim_end_matches("/attach")
            .trim_end_matches(POD)
            .to_owned();
        assert!(
            request.query.contains("container=benchlab") && request.query.contains("stdin=true")
        );
        let container = {
            let jobs = self.jobs();
            let Some(found) = jobs.get(&job) else { return };
            found.object["spec"]["template"]["spec"]["containers"][0].clone()
        };
        assert_eq!(
            (&container["stdin"], &container["stdinOnce"]),
            (&json!(true), &json!(true))
        );
        let words: Vec<String> = serde_json::from_value(container["command"].clone()).unwrap();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("TMPDIR", &self.node);
        let (attached, container) = attached::start(command, key, out);
        if let Some(job) = self.jobs().get_mut(&job) {
            job.attached = Some(attached);
        }
        container.serve(input);
        // The Job has finished and is deleted, because `ttlSecondsAfterFinished` is 0.
        self.jobs().remove(&job);
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        for job in self.shared.jobs().values() {
            job.attached.iter().for_each(Attached::kill);
        }
    }
}

/// Returns the Job whose pods are requested.
fn selected_job(query: &str) -> String {
    let (_, job) = query
        .split_once("job-name%3D")
        .expect("the request selects the pods of a Job");
    job.split('&').next().unwrap_or_default().to_owned()
}

fn not_found(kind: &str, name: &str) -> (u16, Value) {
    let message = format!("{kind} \"{name}\" not found");
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
        "message": message, "details": {"name": name, "kind": kind},
    });
    (404, status)
}

/// Returns the lists of resources that a client requests first.
fn discovery(path: &str) -> Option<Value> {
    let resource = |name: &str, kind: &str| {
        json!({"name": name, "singularName": "", "namespaced": true, "kind": kind,
               "verbs": ["create", "delete", "get", "list", "watch"]})
    };
    let resources = |version: &str, of: Value| json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [of]});
    let batch = json!({"groupVersion": "batch/v1", "version": "v1"});
    Some(match path {
        "/version" => json!({"major": "1", "minor": "32", "gitVersion": "v1.32.4"}),
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": "batch", "versions": [batch], "preferredVersion": batch},
        ]}),
        "/api/v1" => resources("v1", resource("pods", "Pod")),
        "/apis/batch/v1" => resources("batch/v1", resource("jobs", "Job")),
        "/openapi/v3" => json!({"paths": {
            "apis/batch/v1": {"serverRelativeURL": "/openapi/v3/apis/batch/v1?hash=1"},
        }}),
        // A client that creates a Job may request validation of its fields.
        "/openapi/v3/apis/batch/v1" => {
            json!({"openapi": "3.0.0", "info": {"title": "t", "version": "v1"}, "paths": {
                format!("{JOBS}/{{name}}"): {"patch": {
                    "parameters": [{"name": "fieldValidation", "in": "query"}],
                    "responses": {},
                    "x-kubernetes-group-version-kind": {"group": "batch", "version": "v1", "kind": "Job"},
                }},
            }})
        }
        _ => return None,
    })
}

fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        key: None,
        body: Vec::new(),
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "sec-websocket-key" => request.key = Some(value.into()),
            _ => {}
        }
    }
    request.body = vec![0; length];
    input.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn write(out: &mut impl Write, status: u16, response: &Value) -> io::Result<()> {
    let body = response.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    out.write_all((head + &body).as_bytes())
}
