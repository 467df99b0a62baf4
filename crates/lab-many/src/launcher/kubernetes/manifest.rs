// SPDX-License-Identifier: Apache-2.0
//! The Job for an agent, as an API object (batch/v1).

use serde_json::{Map, Value, json};

/// The default manifest, in YAML.
pub const DEFAULT: &str = include_str!("manifest.yaml");

/// The required name of the agent's container in a Job with multiple containers.
const CONTAINER: &str = "benchlab";

/// A Job that runs an agent.
pub struct Job {
    /// The object, as the API accepts it.
    pub object: Value,
    /// The name of the agent's container.
    pub container: String,
}

/// Sets the name of a manifest's Job and the command of the agent's container.
///
/// Returns an error if the manifest is not a Job or has no such container.
pub fn job(mut object: Value, name: &str, command: &[&str]) -> Result<Job, String> {
    let is_job = object["apiVersion"] == "batch/v1" && object["kind"] == "Job";
    if !is_job {
        return Err("the manifest is not a Job (apiVersion: batch/v1, kind: Job)".into());
    }
    let take = |object: &mut Value, path: &str| -> Result<Map<String, Value>, String> {
        let part = object.pointer_mut(path).and_then(Value::as_object_mut);
        part.map(std::mem::take)
            .ok_or_else(|| format!("the manifest has no {}", path.replace('/', ".")))
    };
    let mut metadata = take(&mut object, "/metadata")?;
    metadata.remove("generateName");
    metadata.insert("name".into(), name.into());
    object["metadata"] = metadata.into();
    let mut spec = take(&mut object, "/spec")?;
    // A single agent, which is never restarted.
    for (key, value) in [("completions", 1), ("parallelism", 1), ("backoffLimit", 0)] {
        spec.insert(key.into(), value.into());
    }
    spec.entry("ttlSecondsAfterFinished").or_insert(json!(0));
    object["spec"] = spec.into();
    let containers = object.pointer_mut("/spec/template/spec/containers");
    let containers = containers.and_then(Value::as_array_mut);
    let containers = containers.ok_or("the manifest has no containers")?;
    let is_only = containers.len() == 1;
    let mut containers = containers.iter_mut();
    let container = containers.find(|c| is_only || c["name"] == CONTAINER);
    let container = container.ok_or(format!(
        "no container in the manifest is named `{CONTAINER}`"
    ))?;
    let fields = container
        .as_object_mut()
        .ok_or("a container is not an object")?;
    fields.remove("args");
    for (key, value) in [
        ("command", json!(command)),
        ("stdin", json!(true)),
        ("stdinOnce", json!(true)),
        ("tty", json!(false)),
    ] {
        fields.insert(key.into(), value);
    }
    let container = container["name"].as_str().unwrap_or_default().to_owned();
    object["spec"]["template"]["spec"]["restartPolicy"] = "Never".into();
    Ok(Job { object, container })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(containers: Value) -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "x-"},
            "spec": {"parallelism": 3, "template": {"spec": {
                "nodeSelector": {"disk": "ssd"}, "containers": containers,
            }}},
        })
    }

    #[test]
    fn edits_of_the_user_are_kept() {
        let containers = json!([
            {"name": "proxy", "image": "p"},
            {"name": "benchlab", "image": "i", "args": ["x"], "tty": true},
        ]);
        let created = job(manifest(containers), "b-1", &["sh", "-c", "true"]).unwrap();
        assert_eq!(created.container, "benchlab");
        let Value::Object(metadata) = &created.object["metadata"] else {
            panic!("none");
        };
        assert_eq!(metadata.len(), 1);
        assert_eq!(metadata["name"], "b-1");
        let spec = &created.object["spec"];
        assert_eq!(
            (&spec["parallelism"], &spec["backoffLimit"]),
            (&json!(1), &json!(0))
        );
        assert_eq!(spec["ttlSecondsAfterFinished"], 0);
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["nodeSelector"]["disk"], "ssd");
        assert_eq!(pod["restartPolicy"], "Never");
        assert_eq!(pod["containers"][0], json!({"name": "proxy", "image": "p"}));
        let expected = json!({
            "name": "benchlab", "image": "i", "command": ["sh", "-c", "true"],
            "stdin": true, "stdinOnce": true, "tty": false,
        });
        assert_eq!(pod["containers"][1], expected);
    }

    #[test]
    fn manifests_without_an_agents_job_are_rejected() {
        let refused = |object: Value| job(object, "b-1", &[]).err().expect("refused");
        assert!(refused(json!({"kind": "Pod", "apiVersion": "v1"})).contains("not a Job"));
        assert!(refused(json!({"kind": "Job", "apiVersion": "batch/v1"})).contains("no .metadata"));
        let nameless = json!([{"name": "a"}, {"name": "b"}]);
        assert!(refused(manifest(nameless)).contains("named `benchlab`"));
    }
}
