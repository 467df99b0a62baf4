# SPDX-License-Identifier: Apache-2.0
"""Runs an application server, with or without a reverse proxy, as a subject:
`subject.py EXPERIMENT BACKEND [tls] [packed] [redeployed]`."""

import http.client
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import stack
from lab_kit import Opening, lines, serve
from lab_kit.daemons import Daemons, is_open, program

BUILT = Path("build/reverse-proxy")
"""The directory that app.py has created."""

ADA = Path("build/rest/ada/server/subject")
"""The subject whose server is the web server of appserver/ada."""

PROXIES = {"none": "", "jk": "apache-jk", "ajp": "apache-ajp", "http": "apache-http", "nginx": "nginx"}
"""The kinds of reverse proxy, and the word for each kind in the names of subjects."""

BACKENDS = ("tomcat", "ada")
OPTIONS = {"tls", "packed", "redeployed"}

_TIMEOUT_S = 30
"""The timeout of the response that shows that a server is ready."""

REDEPLOYED_S = 1.0
"""The time in seconds after which a new version replaces the deployed version."""


class Stack:
    """The running servers: the application server and its proxy, with their processes and configuration."""

    def __init__(self, daemons: Daemons, proxy: str, options: set[str], workers: int) -> None:
        self.daemons, self.proxy, self.options, self.workers = daemons, proxy, options, workers
        self.folder = daemons.folder
        self.pids: list[int] = []
        self.texts: list[str] = []
        self.secret = secrets.token_hex(16)
        self.tls = stack.certificate(self.folder) if "tls" in options else None
        if self.tls is not None:
            for path in self.tls.certificate, self.tls.key:
                daemons.own(path)
        shutil.copytree(BUILT / "app", self.folder / "app")

    def tomcat(self) -> int:
        """Starts Tomcat, and returns the port of its connector."""
        for name in "conf", "webapps", "temp", "work", "logs":
            self.daemons.make(name)
        if "packed" in self.options:
            shutil.copy(BUILT / "app.war", self.folder / "webapps/ROOT.war")
        else:
            name = "ROOT##0001" if "redeployed" in self.options else "ROOT"
            shutil.copytree(BUILT / "app", self.folder / "webapps" / name)
        self.daemons.write("conf/web.xml", stack.tomcat_web(jsp=False))
        self.daemons.write("conf/context.xml", stack.TOMCAT_CONTEXT)
        over_ajp = self.proxy in ("jk", "ajp")

        def listen(port: int) -> int:
            text = stack.tomcat_server(
                http=None if over_ajp else port, ajp=port if over_ajp else None, secret=self.secret,
                tls=self.tls if self.proxy == "none" else None, compression=self.proxy == "none",
                automatic="redeployed" in self.options, workers=max(self.workers, 64))
            self.daemons.write("conf/server.xml", text)
            ready = (lambda: is_open(port)) if over_ajp else (
                lambda: self.answers(port, secure=self.proxy == "none"))
            return self.daemons.start(stack.tomcat_command(self.folder), ready)

        port, pid = self.daemons.listen(listen)
        self.texts.append((self.folder / "conf/server.xml").read_text())
        self.pids.append(pid)
        return port

    def ada(self) -> int:
        """Starts the Ada server with the subject protocol."""
        process = subprocess.Popen([str(ADA.absolute())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=2)
        self.pids.append(process.pid)
        self.backend = process
        process.stdout.readline()
        command = {"case": "serve", "workers": self.workers, "files": self.folder / "app/files", "seed": 7}
        words = lines.reply("open", command).removeprefix(b"@lab ")
        process.stdin.write(words)
        process.stdin.flush()
        verb, arguments = lines.parse(process.stdout.readline().removeprefix(b"@lab ").rstrip(b"\n"))
        if verb != "opened":
            raise RuntimeError(f"the Ada server replied {verb}: {arguments}")
        return int(arguments["url"].rsplit(":", 1)[1])

    def apache(self, backend: int) -> int:
        """Starts Apache as a reverse proxy for a port."""
        if self.proxy == "jk":
            text = stack.workers(backend, self.secret)
            self.texts.append(text)
            self.daemons.write("workers.properties", text)
        application = stack.Application("", self.folder / "app", ["/files"])

        def listen(port: int) -> int:
            text = stack.apache(self.folder, [application], listen=f"127.0.0.1:{port}", kind=self.proxy,
                                backend=backend, secret=self.secret, tls=self.tls, keep_alive=300)
            conf = self.daemons.write("httpd.conf", text)
            return self.daemons.start([program("apache2"), "-f", conf, "-DFOREGROUND"],
                                      lambda: (self.folder / "httpd.pid").exists() 
                                      and self.answers(port, secure=True), ending=signal.SIGWINCH)

        port, pid = self.daemons.listen(listen)
        self.texts.append((self.folder / "httpd.conf").read_text())
        self.pids.append(pid)
        return port

    def nginx(self, backend: int) -> int:
        """Starts nginx as a reverse proxy for a port."""

        def listen(port: int) -> int:
            text = stack.nginx(self.folder, self.folder / "app", port=port, backend=backend, tls=self.tls,
                               compression=True)
            conf = self.daemons.write("nginx.conf", text)
            return self.daemons.start([program("nginx"), "-p", self.folder, "-c", conf, "-e",
                                       self.folder / "log"],
                                      lambda: self.answers(port, secure=True), ending=signal.SIGQUIT)

        port, pid = self.daemons.listen(listen)
        self.texts.append((self.folder / "nginx.conf").read_text())
        self.pids.append(pid)
        return port

    def answers(self, port: int, *, secure: bool) -> bool:
        """Returns true if the dynamic page is served."""
        context = None
        if secure and self.tls is not None:
            context = ssl.create_default_context(cafile=str(self.tls.certificate))
        connection = (http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S) if context is None else
                      http.client.HTTPSConnection("127.0.0.1", port, timeout=_TIMEOUT_S, context=context))
        try:
            connection.request("GET", "/api")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def redeploy(folder: Path, over: threading.Event, told: dict[str, float]) -> None:
    """Repeatedly deploys a new version next to the old one: Tomcat uses the new version for new requests, and removes
    the old version when no request uses it anymore."""
    number = 1
    while not over.wait(REDEPLOYED_S):
        number += 1
        name = f"ROOT##{number:04d}"
        draft = folder / "temp" / name
        shutil.copytree(BUILT / "app", draft)
        draft.rename(folder / "webapps" / name)
        while f"{name}] has finished" not in (folder / "log").read_text(errors="replace"):
            if over.wait(0.05):
                return
        told["redeployments"] = number - 1


@contextmanager
def site(opening: Opening) -> Iterator[None]:
    proxy, backend, *words = sys.argv[1:]
    options = set(words)
    workers = opening.integer("workers", 1, 1024)
    with ExitStack() as ending:
        daemons = ending.enter_context(Daemons())
        begun = time.monotonic_ns()
        running = Stack(daemons, proxy, options, workers)
        port = running.tomcat() if backend == "tomcat" else running.ada()
        if backend == "ada":
            ending.callback(end_ada, running.backend)
        if proxy == "nginx":
            port = running.nginx(port)
        elif proxy != "none":
            port = running.apache(port)
        ready_ns = time.monotonic_ns() - begun
        scheme = "https" if "tls" in options else "http"
        opening.settings |= {"url": f"{scheme}://127.0.0.1:{port}",
                             "processes": ",".join(map(str, running.pids)), "workers": workers, "loops": 0}
        if running.tls is not None:
            opening.settings["certificate"] = str(running.tls.certificate)
        opening.metrics |= {"ready": ready_ns, "configuration": stack.lines_of(*running.texts),
                            "redeployments": 0}
        if "redeployed" in options:
            over = threading.Event()
            worker = threading.Thread(target=redeploy, args=(running.folder, over, opening.metrics))
            worker.start()
            ending.callback(worker.join)
            ending.callback(over.set)
        yield


def name(proxy: str, backend: str, *options: str) -> str:
    """Returns the subject's name in experiment.toml. It contains `tomcat` only if there is no proxy."""
    server = "" if backend == "tomcat" and PROXIES[proxy] else backend
    return "-".join(word for word in (server, PROXIES[proxy], *options) if word)


def end_ada(process: "subprocess.Popen[bytes]") -> None:
    process.stdin.write(b"close\nquit\n")
    process.stdin.close()
    process.stdout.read()
    process.wait(10)
    process.stdout.close()


if __name__ == "__main__":
    if (len(sys.argv) < 3 or sys.argv[1] not in PROXIES or sys.argv[2] not in BACKENDS
            or not OPTIONS.issuperset(sys.argv[3:])):
        sys.exit(f"usage: subject.py {'|'.join(PROXIES)} {'|'.join(BACKENDS)} [{'] ['.join(sorted(OPTIONS))}]")
    if not BUILT.joinpath("app.war").exists():
        sys.exit(f"{BUILT} is missing: build the subject first (benchlab build reverse-proxy)")
    serve(name(*sys.argv[1:]), "Tomcat 10, Apache 2.4, nginx", {"serve": site}, one_thread=False)
