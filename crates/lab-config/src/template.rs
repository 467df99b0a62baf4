// SPDX-License-Identifier: Apache-2.0
//! The commented file that `benchlab init` writes.

use crate::detect::Detected;

/// Builds the file for a project.
pub fn template(found: &[Detected]) -> String {
    let mut text = String::from(
        "# What benchlab measures in this project. Each key is an option of the command: margin = \"2%\" is \
         --margin 2%.\n\
         # Commands run in the directory of this file. For an editor that completes keys, run\n\
         # `benchlab init --schema > benchlab.schema.json` and put `#:schema ./benchlab.schema.json` on the first \
         line.\n\n\
         [ci]\n\
         # The branch that `benchlab ci` compares with if the CI service does not name a branch.\n\
         base = \"main\"\n",
    );
    match found.split_first() {
        Some((first, others)) => {
            text += &comparison(first, "");
            for other in others {
                text += &comparison(other, "# ");
            }
        }
        None => text += &comparison(&unknown(), "# "),
    }
    text + FURTHER
}

/// The comparison for a project whose build tool is unknown.
fn unknown() -> Detected {
    Detected {
        tool: "a command",
        name: "main".into(),
        setup: "make".into(),
        command: "./program typical-input".into(),
        note: "A run should take 10 ms or more.",
    }
}

/// Formats a comparison. Every line begins with `mark`.
fn comparison(found: &Detected, mark: &str) -> String {
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    let mut lines = vec![
        format!(
            "# {}: `benchlab compare {}`. {}",
            found.tool, found.name, found.note
        ),
        format!("{mark}[compare.{}]", found.name),
    ];
    if !found.setup.is_empty() {
        lines.push(format!("{mark}setup = {}", quoted(&found.setup)));
    }
    lines.push(format!("{mark}command = {}", quoted(&found.command)));
    lines.push(format!(
        "{mark}ci = true                 # `benchlab ci` compares the base and the head of a pull request"
    ));
    lines.push(format!(
        "{mark}fail-if = [\"time>+3%\"]    # the whole interval of the ratio must be above 1.03"
    ));
    lines.push(format!(
        "{mark}inconclusive = \"warn\"     # or \"fail\" (exit code 4), or \"pass\""
    ));
    lines.push(format!(
        "{mark}for = \"60s\"               # maximum; it stops earlier if the result is clear"
    ));
    format!("\n{}\n", lines.join("\n"))
}

/// Examples of entries other than comparisons.
const FURTHER: &str = r#"
# Two commands against each other: the first is the baseline.
# [compare.formats]
# command = ["./convert --to json big.csv", "./convert --to parquet big.csv"]
# name = ["json", "parquet"]
# prepare = "rm -f out"

# A server that is running: `benchlab load checkout`
# [load.checkout]
# url = ["http://127.0.0.1:8080/checkout"]
# rate = 200
# for = "30s"
# fail-if = ["p99>50ms", "errors>0.1%"]

# Logs: `benchlab logs web`
# [logs.web]
# log = "/var/log/nginx/access.log"
# fail-if = ["p99(/search)>300ms", "errors>1%"]

# An audit: `benchlab audit production`
# [audit.production]
# kind = "host"
# fail-if = ["bad>0"]

# Findings that are accepted until a date. They are shown as accepted, and count again the day after.
# [[waiver]]
# rule = "disk-scheduler"
# object = "sda"
# reason = "the disk is virtual"
# until = "2027-03-31"
"#;
