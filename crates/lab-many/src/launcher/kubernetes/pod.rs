// SPDX-License-Identifier: Apache-2.0
//! The state of a pod, as described by the API (v1).

use serde_json::Value;

/// The state of an agent's container.
#[derive(Debug, PartialEq, Eq)]
pub enum PodStage {
    /// The container is not running yet. Contains the reason, if it is known.
    Waits(String),
    /// The container is running.
    Runs,
    /// The container will never run. Contains the reason.
    Failed(String),
}

/// Reasons reported by the kubelet for a container that will never run.
const PERMANENT_FAILURES: [&str; 7] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];

/// Returns the state of a container in a pod.
pub fn stage(pod: &Value, container: &str) -> PodStage {
    let status = &pod["status"];
    let containers = items(&status["containerStatuses"]);
    let state = containers
        .iter()
        .find(|c| c["name"] == container)
        .map_or(&Value::Null, |c| &c["state"]);
    if let Some(terminated) = state.get("terminated") {
        let code = &terminated["exitCode"];
        return PodStage::Failed(format!(
            "the agent's container exited ({code}){}",
            explanation(terminated)
        ));
    }
    if matches!(status["phase"].as_str(), Some("Failed" | "Succeeded")) {
        return PodStage::Failed(format!("the agent's pod terminated{}", explanation(status)));
    }
    if state.get("running").is_some() {
        return PodStage::Runs;
    }
    let waiting = &state["waiting"];
    if items(&status["initContainerStatuses"])
        .iter()
        .map(|c| &c["state"]["waiting"])
        .chain([waiting])
        .any(|w| {
            PERMANENT_FAILURES
                .iter()
                .any(|reason| w["reason"] == *reason)
        })
    {
        return PodStage::Failed(format!(
            "the agent's container cannot start{}",
            explanation(waiting)
        ));
    }
    let conditions = items(&status["conditions"]);
    let unscheduled = conditions
        .iter()
        .find(|c| c["status"] == "False" && c["type"] == "PodScheduled");
    PodStage::Waits(match unscheduled {
        Some(condition) => format!("the agent's pod has no node yet{}", explanation(condition)),
        None => format!(
            "the agent's container is not running yet{}",
            explanation(waiting)
        ),
    })
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// Formats the reason and the message in an API object, if any.
fn explanation(object: &Value) -> String {
    let words = ["reason", "message"].map(|key| object[key].as_str().unwrap_or_default());
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.map(|word| format!(": {}", word.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stage_of(status: Value) -> PodStage {
        stage(&json!({"status": status}), "benchlab")
    }

    fn container(state: Value) -> Value {
        json!([{"name": "proxy", "state": {"running": {}}}, {"name": "benchlab", "state": state}])
    }

    #[test]
    fn a_pod_waits_runs_or_has_failed() {
        let unscheduled = json!({"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/2 nodes are available: 2 Insufficient cpu.",
        }]});
        let message = "the agent's pod has no node yet: Unschedulable: 0/2 nodes are available: 2 Insufficient cpu.";
        assert_eq!(stage_of(unscheduled), PodStage::Waits(message.into()));
        let pulled = container(json!({"waiting": {"reason": "ContainerCreating"}}));
        let message = "the agent's container is not running yet: ContainerCreating";
        assert_eq!(
            stage_of(json!({"phase": "Pending", "containerStatuses": pulled})),
            PodStage::Waits(message.into())
        );
        let running = container(json!({"running": {"startedAt": "2026-11-25T10:00:00Z"}}));
        assert_eq!(
            stage_of(json!({"phase": "Running", "containerStatuses": running})),
            PodStage::Runs
        );
        let absent =
            container(json!({"waiting": {"reason": "ImagePullBackOff", "message": "no x"}}));
        let message = "the agent's container cannot start: ImagePullBackOff: no x";
        assert_eq!(
            stage_of(json!({"phase": "Pending", "containerStatuses": absent})),
            PodStage::Failed(message.into())
        );
        let ended = container(json!({"terminated": {"exitCode": 1, "reason": "Error"}}));
        assert_eq!(
            stage_of(json!({"phase": "Failed", "containerStatuses": ended})),
            PodStage::Failed("the agent's container exited (1): Error".into())
        );
        let evicted = json!({"phase": "Failed", "reason": "Evicted"});
        assert_eq!(
            stage_of(evicted),
            PodStage::Failed("the agent's pod terminated: Evicted".into())
        );
    }
}
