#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a release from a copy of this directory, without benchlab around it: release.py DIRECTORY

Checks what Maven Central requires of each artifact, and the nullness annotations. Checks that two builds are equal, that the
signatures are valid, and that placeholders are not published. Checks that an application can use the artifacts, on the class path
and as modules, and that the first program of README.md runs.
https://central.sonatype.org/publish/requirements/"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

JAVA = Path(__file__).resolve().parent.parent
POM = "{http://maven.apache.org/POM/4.0.0}"
REQUIRED = ("name", "description", "url", "licenses/license/name", "licenses/license/url", "developers/developer/name",
            "scm/connection", "scm/developerConnection", "scm/url")
KEY = "%no-protection\nKey-Type: eddsa\nKey-Curve: ed25519\nName-Real: Test\nName-Email: test@example.org\nExpire-Date: 0\n%commit\n"

# Builds the application with the artifacts, which are then not installed in the user's repository
TOGETHER = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>application</groupId><artifactId>together</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>second</module><module>application</module><module>first_program</module></modules>
</project>
"""

APPLICATION = {
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>application</groupId><artifactId>application</artifactId><version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencyManagement><dependencies><dependency>
    <groupId>benchlab</groupId><artifactId>appserver-bom</artifactId><version>VERSION</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>DEPENDENCIES</dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version><executions><execution>
      <phase>package</phase><goals><goal>copy-dependencies</goal></goals>
    </execution></executions></plugin>
  </plugins></build>
</project>
""",
    "src/main/java/module-info.java": """module application {
    requires benchlab.appserver.cache;
    requires benchlab.appserver.counter;
    requires benchlab.appserver.monitor;
    requires benchlab.appserver.pool;
    requires benchlab.appserver.process;
    requires benchlab.appserver.retry;
}
""",
    "src/main/java/application/Main.java": """package application;

import benchlab.appserver.cache.CacheOptions;
import benchlab.appserver.cache.ConcurrentCache;
import benchlab.appserver.counter.Counter;
import benchlab.appserver.counter.StripedCounter;
import benchlab.appserver.monitor.Monitor;
import benchlab.appserver.monitor.MonitorTexts;
import benchlab.appserver.pool.Pool;
import benchlab.appserver.pool.PoolOptions;
import benchlab.appserver.process.Command;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.StaleVersionException;

public class Main {

    /** A fake of an application's own. */
    private static final class NoCounter implements Counter {
        @Override
        public long value() {
            return 0;
        }

        @Override
        public void add(long amount) {}
    }

    public static void main(String[] arguments) throws Exception {
        Counter counter = new StripedCounter();
        counter.increment();
        new NoCounter().increment();
        var cache = new ConcurrentCache<String, Integer>(CacheOptions.UNLIMITED);
        var monitor = new Monitor();
        monitor.begin("GET", "/");
        monitor.end(200, "/");
        int[] runs = {0};
        int attempts =
                Retry.call(
                        Policy.ofAttempts(2),
                        () -> {
                            if (++runs[0] == 1) {
                                throw new StaleVersionException();
                            }
                            return runs[0];
                        });
        try (var pool = new Pool<>(1, PoolOptions.of(Object::new)); var lease = pool.lease()) {
            System.out.println(
                    counter.value() + " " + cache.get("three", String::length) + " " + attempts + " "
                            + (lease.resource() != null) + " "
                            + MonitorTexts.html(monitor, "shop").contains("<html") + " "
                            + Command.of("echo", "done").run().orThrow().text().strip());
        }
    }
}
""",
}
PRINTED = "1 5 2 true true done\n"


def run(*words: str | Path, cwd: Path, fails: bool = False, **environment: str) -> str:
    process = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=os.environ | environment)
    assert (process.returncode != 0) == fails, f"{' '.join(map(str, words))} in {cwd}\n{process.stdout}{process.stderr}"
    return process.stdout


def maven(folder: Path, *words: str, **more: object) -> str:
    return run("mvn", "-B", "-ntp", "-q", "-DskipTests", *words, cwd=folder, **more)


def copied(folder: Path) -> Path:
    shutil.copytree(JAVA, folder, ignore=shutil.ignore_patterns("target", "__pycache__"))
    return folder


def modules(folder: Path) -> list[Path]:
    """Returns the directories of the published modules, starting with the parent."""
    names = [module.text for module in ElementTree.parse(folder / "pom.xml").iter(f"{POM}module")]
    return [folder, *(folder / name for name in names if not name.startswith(("tests/", "examples")))]


def jars(folder: Path) -> dict[str, str]:
    found = [jar for module in modules(folder) for jar in sorted(module.glob("target/*.jar"))]
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in found}


def texts(pom: ElementTree.Element, path: str) -> list[str]:
    return [element.text.strip() for element in pom.findall("/".join(POM + name for name in path.split("/"))) if element.text]


def check_artifact(module: Path, parent: ElementTree.Element, version: str) -> None:
    pom = ElementTree.parse(module / "pom.xml").getroot()
    for path in REQUIRED:
        own = path in ("name", "description")
        assert texts(pom, path) or not own and texts(parent, path), f"{module.name} has no {path}"
    assert texts(pom, "version") == [version] or texts(pom, "parent/version") == [version], (
            f"{module.name} has a version other than its parent's")
    if texts(pom, "packaging") == ["pom"]:
        return
    base = module / "target" / f"{texts(pom, 'artifactId')[0]}-{version}"
    with zipfile.ZipFile(f"{base}.jar") as jar:
        assert "module-info.class" in jar.namelist(), f"{module.name} has no module-info.class"
    with zipfile.ZipFile(f"{base}-sources.jar") as jar:
        assert any(name.endswith(".java") for name in jar.namelist()), f"{module.name} has no sources"
    with zipfile.ZipFile(f"{base}-javadoc.jar") as jar:
        assert any(name.endswith("package-summary.html") for name in jar.namelist()), f"{module.name} has no Javadoc"


def check_signatures(folder: Path, home: Path) -> int:
    """Signs the artifacts with a temporary key, and verifies the signatures."""
    home.mkdir(mode=0o700)
    subprocess.run(["gpg", "--batch", "--quiet", "--gen-key"], input=KEY, text=True, check=True,
                   env=os.environ | {"GNUPGHOME": str(home)})
    try:
        maven(folder, "-Prelease,sign", "verify", GNUPGHOME=str(home))
        signatures = [file for module in modules(folder) for file in module.glob("target/*.asc")]
        for signature in signatures:
            run("gpg", "--quiet", "--verify", signature, signature.with_suffix(""), cwd=folder, GNUPGHOME=str(home))
    finally:
        run("gpgconf", "--kill", "all", cwd=folder, GNUPGHOME=str(home))
    signed = {signature.name.removesuffix(".asc") for signature in signatures}
    assert jars(folder).keys() <= signed and any(name.endswith(".pom") for name in signed), sorted(signed)
    return len(signatures)


def check_application(folder: Path, version: str) -> None:
    names = ("counters", "caches", "pools", "processes", "retry", "monitor")
    dependency = "<dependency><groupId>benchlab</groupId><artifactId>appserver-{0}</artifactId></dependency>"
    dependencies = "".join(map(dependency.format, names))
    application = folder / "application"
    for name, text in APPLICATION.items():
        file = application / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("VERSION", version).replace("DEPENDENCIES", dependencies))
    readme = (JAVA / "README.md").read_text()
    program = folder / "first_program"
    source = program / "src/main/java/FirstExample.java"
    source.parent.mkdir(parents=True)
    (program / "pom.xml").write_text(re.search("```xml\n(<project.*?)```", readme, re.DOTALL)[1])
    source.write_text(re.search("```java\n(import.*?)```", readme, re.DOTALL)[1])
    (folder / "pom.xml").write_text(TOGETHER)
    maven(folder, "-pl", ":application,:shop", "-am", "package")
    libraries = application / "target/dependency"
    assert run("java", "-cp", f"target/classes:{libraries}/*", "application.Main", cwd=application) == PRINTED
    assert run("java", "-p", f"target/classes:{libraries}", "-m", "application/application.Main", cwd=application) == PRINTED
    assert run("java", "-cp", f"target/classes:{libraries}/*", "FirstExample", cwd=program) == "40000\n"


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    first, second = copied(folder / "first"), copied(folder / "second")
    parent = ElementTree.parse(first / "pom.xml").getroot()
    version = texts(parent, "version")[0]
    maven(first, "-Prelease,nullness", "verify")
    maven(second, "-Prelease", "verify")
    assert jars(first) == jars(second), [name for name, digest in jars(first).items() if jars(second).get(name) != digest]
    for module in modules(first):
        check_artifact(module, parent, version)
    signed = check_signatures(first, folder / "gnupg")
    rejected = maven(first, "-Prelease,publish", "validate", fails=True)
    assert "is a placeholder" in rejected, rejected
    check_application(folder, version)
    print(f"release: {len(jars(first))} jars of {len(modules(first))} artifacts are complete and equal in two builds, "
          f"{signed} files are signed, and an application uses them")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
