# SPDX-License-Identifier: Apache-2.0
"""Runs Apache with PHP as a subject: `subject.py mod|fpm CACHE`. Apache and PHP are configured as their authors
recommend. Subjects with the same interface to PHP differ only in their `CACHES` entry."""

import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab_kit import Opening, serve
from lab_kit.daemons import Daemons, is_open, program

SITE = Path("build/opcache/site")
"""The site that site.py has created. Apache serves a copy, so that nothing else changes or reads its
files."""

COLD = "/blog/index.php?post=7"
"""The path of the first request to a newly started server."""

CACHES: dict[str, dict[str, str]] = {
    "none": {},
    "opcache": {},
    "each": {"revalidate_freq": "0"},
    "unchecked": {"validate_timestamps": "0"},
    "files": {"file_cache": "{folder}/opcache", "file_cache_only": "1"},
    "preload": {"validate_timestamps": "0", "preload": "{folder}/site/preload.php"},
    "jit": {"validate_timestamps": "0", "jit": "tracing", "jit_buffer_size": "32M"},
}
"""The settings of OPcache for each kind of cache, in addition to PHP's own defaults."""

COMMON = {"enable": "1", "memory_consumption": "128", "interned_strings_buffer": "8",
          "max_accelerated_files": "4000"}
"""The settings of all caches. They leave room for the whole site, as PHP's manual recommends for production."""

INI = """\
; php.ini-production, as far as it matters here
expose_php=Off
display_errors=Off
log_errors=On
error_reporting=E_ALL & ~E_DEPRECATED & ~E_STRICT
output_buffering=4096
realpath_cache_size=4096k
realpath_cache_ttl=600
date.timezone=UTC
session.use_cookies=0
"""

APACHE = """\
ServerRoot {folder}
DefaultRuntimeDir {folder}
PidFile {folder}/httpd.pid
ErrorLog {folder}/log
LogLevel warn
Listen 127.0.0.1:{port}
ServerName 127.0.0.1
ServerTokens Prod
ServerSignature Off
TraceEnable Off
{load}
KeepAlive On
MaxKeepAliveRequests 0
# benchlab lets a server wait while others have their turn.
KeepAliveTimeout 300
Timeout 300
GracefulShutdownTimeout 5
EnableSendfile On
DirectoryIndex index.php
DocumentRoot {folder}/site
<Directory />
    AllowOverride None
    Require all denied
</Directory>
<Directory {folder}/site>
    Require all granted
</Directory>
TypesConfig /etc/mime.types
"""

MOD = """\
PHPIniDir {folder}
<FilesMatch "\\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
StartServers {workers}
MinSpareServers 1
MaxSpareServers {workers}
ServerLimit {workers}
MaxRequestWorkers {workers}
MaxConnectionsPerChild 0
"""

PROXY = """\
<FilesMatch "\\.php$">
    SetHandler "proxy:unix:{folder}/fpm.sock|fcgi://php"
</FilesMatch>
<Proxy "fcgi://php" enablereuse=on max={workers}>
</Proxy>
StartServers 1
ServerLimit 2
ThreadsPerChild 32
MaxRequestWorkers 64
MaxConnectionsPerChild 0
"""

FPM = """\
[global]
error_log = {folder}/log
log_level = warning
daemonize = no
[site]
listen = {folder}/fpm.sock
listen.backlog = 511
pm = static
pm.max_children = {workers}
catch_workers_output = yes
clear_env = yes
"""

MODULES = {
    "mod": ["mpm_prefork", "php"],
    "fpm": ["mpm_event", "proxy", "proxy_fcgi"],
}
COMMON_MODULES = ["authz_core", "mime", "dir"]


def ini(cache: str, folder: Path) -> str:
    if cache == "none":
        return INI
    settings = COMMON | CACHES[cache]
    lines = [f"opcache.{key}={value.format(folder=folder)}" for key, value in settings.items()]
    return "\n".join([INI + "zend_extension=opcache", *lines, ""])


def module(name: str) -> str:
    """Returns the line that loads a module of Apache."""
    folder = Path("/usr/lib/apache2/modules")
    if name == "php":
        found = sorted(folder.glob("libphp*.so"))
        if not found:
            raise RuntimeError("Apache's module for PHP is not installed")
        return f"LoadModule php_module {found[-1]}"
    return f"LoadModule {name}_module {folder}/mod_{name}.so"


def get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: status {answer.status}")
        return body
    finally:
        connection.close()


def start(daemons: Daemons, sapi: str, cache: str, workers: int) -> tuple[int, list[int]]:
    """Starts Apache, and returns its port and all serving processes."""
    folder = daemons.folder
    shutil.copytree(SITE, folder / "site")
    daemons.make("opcache")
    daemons.write("php.ini", ini(cache, folder))
    # Ignores the machine's own php.ini directory.
    environment = {"PHP_INI_SCAN_DIR": ""}
    words = {"folder": folder, "workers": workers,
             "load": "\n".join(map(module, COMMON_MODULES + MODULES[sapi]))}
    pids = []
    if sapi == "fpm":
        daemons.write("fpm.conf", FPM.format(**words))
        fpm = program("php-fpm8.2", "php-fpm8.4", "php-fpm8.3", "php-fpm")
        pids.append(daemons.start(
            [fpm, "-F", "-y", folder / "fpm.conf", "-c", folder / "php.ini"],
            lambda: (folder / "fpm.sock").exists(), ending=signal.SIGQUIT, environment=environment))

    def listen(port: int) -> int:
        text = APACHE + (MOD if sapi == "mod" else PROXY)
        daemons.write("httpd.conf", text.format(port=port, **words))
        return daemons.start([program("apache2"), "-f", folder / "httpd.conf", "-DFOREGROUND"],
                             lambda: (folder / "httpd.pid").exists() and is_open(port),
                             ending=signal.SIGWINCH,
                             environment=environment)

    port, apache = daemons.listen(listen)
    return port, [*pids, apache]


def status(port: int) -> dict[str, Any]:
    return json.loads(get(port, "/status.php"))


def check(cache: str, port: int, told: dict[str, Any], stored: list[Path]) -> None:
    """Raises an error if the cache does not behave according to its name. `told` is the server's latest status, and
    `stored` are the files that the cache has written."""
    if cache == "none":
        if told["enabled"]:
            raise RuntimeError("OPcache is enabled, but must be disabled")
        return
    if not told["enabled"]:
        raise RuntimeError("OPcache is disabled, but must be enabled")
    if cache == "files":
        file = f"/site{COLD.split('?')[0]}.bin"
        if not any(str(path).endswith(file) for path in stored):
            raise RuntimeError("OPcache has stored no file of the blog in its directory")
        return
    if told["restarts"]:
        raise RuntimeError("OPcache was full and restarted")
    get(port, COLD)
    now = status(port)
    # The page of the status is a hit, too.
    hits, misses = now["hits"] - told["hits"] - 1, now["misses"] - told["misses"]
    if hits < 1 or misses > 0:
        raise RuntimeError(f"OPcache has {hits} hits and {misses} misses for a page that was requested before, "
                           "so it is not used")


@contextmanager
def site(opening: Opening) -> Iterator[None]:
    sapi, cache = sys.argv[1:]
    workers = opening.integer("workers", 1, 1024)
    with Daemons() as daemons:
        port, pids = start(daemons, sapi, cache, workers)
        begun = time.monotonic_ns()
        get(port, COLD)
        cold_ns = time.monotonic_ns() - begun
        opened = status(port)
        opening.settings |= {
            "url": f"http://127.0.0.1:{port}", "processes": ",".join(map(str, pids)),
            "workers": workers, "loops": 0, "php": opened["php"], "sapi": opened["sapi"],
            **{f"opcache_{key}": value for key, value in opened["settings"].items()}}
        yield
        told = status(port)
        stored = list((daemons.folder / "opcache").rglob("*.bin"))
        check(cache, port, told, stored)
        opening.metrics |= {
            "cold_page": cold_ns, "opcache_hits": told["hits"], "opcache_misses": told["misses"],
            "cached_files": len(stored) if cache == "files" else told["scripts"],
            "cache_memory": told["memory"] + told["jit"]}


def versions() -> str:
    def first_line(*words: str) -> str:
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        return told.splitlines()[0] if told else ""

    apache = re.search(r"Apache/([0-9.]+)", first_line(program("apache2"), "-v"))
    php = [path.name for path in Path("/usr/lib/apache2/modules").glob("libphp*.so")]
    kind = php if sys.argv[1] == "mod" else [Path(program("php-fpm8.2", "php-fpm8.4", "php-fpm8.3",
                                                          "php-fpm")).name]
    return f"Apache {apache[1] if apache else '?'}, {' '.join(kind)}"


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MODULES or sys.argv[2] not in CACHES:
        sys.exit(f"usage: subject.py mod|fpm {'|'.join(CACHES)}")
    if not SITE.is_dir():
        sys.exit(f"{SITE} is missing: build the subject first (benchlab build opcache)")
    serve("-".join(sys.argv[1:]), versions(), {"serve": site}, one_thread=False)
