# SPDX-License-Identifier: Apache-2.0
"""The files that `generate` writes into its directory: apache/ and tomcat/ next to the applications in app/, their
owners, and the commands that start the servers."""

import os
import pwd
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import stack


class ConfigurationError(Exception):
    """Raised if the written files cannot be used; the message contains the reason."""


@dataclass(frozen=True)
class Configuration:
    """The settings from which the files are generated."""

    folder: Path
    applications: Sequence[stack.Application]
    """The applications, exploded in `folder`/app. Tomcat interprets the name of each directory: `shop#new` is
    /shop/new."""
    name: str
    listen: str
    ajp: int
    secret: str
    tls: stack.Tls
    public: stack.Public
    tomcat_user: str | None = None
    """The user of Tomcat if root starts Tomcat. Otherwise the current user runs it."""
    http: int | None = None
    """The port of a connector that bypasses the proxy; only for the verification."""

    @property
    def apache(self) -> Path:
        return self.folder / "apache"

    @property
    def tomcat(self) -> Path:
        return self.folder / "tomcat"

    @property
    def httpd_conf(self) -> Path:
        return self.apache / "httpd.conf"

    def texts(self) -> dict[Path, str]:
        """Returns the texts of all files except the file with the content types."""
        proxy = stack.apache(self.apache, self.applications, listen=self.listen, kind="jk", backend=self.ajp,
                             secret=self.secret, name=self.name, tls=self.tls, public=self.public)
        head = "# Written by experiments/reverse-proxy/generate: run it again for each version of the applications in app/.\n"
        return {
            self.httpd_conf: head + proxy,
            self.apache / "workers.properties": stack.workers(self.ajp, self.secret),
            self.tomcat / "conf/server.xml": stack.tomcat_server(http=self.http, ajp=self.ajp, secret=self.secret,
                                                                 applications=str(self.folder / "app")),
        }

    def write(self) -> int:
        """Writes all files, and returns the number of lines of configuration."""
        self.apache.mkdir(exist_ok=True)
        for name in "conf", "temp", "work", "logs":
            place = self.tomcat / name
            place.mkdir(parents=True)
            if self.tomcat_user and name != "conf":
                shutil.chown(place, self.tomcat_user, pwd.getpwnam(self.tomcat_user).pw_gid)
        texts = self.texts()
        for path, text in [*texts.items(), (self.tomcat / "conf/web.xml", stack.tomcat_web())]:
            path.touch(mode=0o600)
            path.write_text(text)
            # Only the proxy and the application may read the secret.
            path.chmod(0o600 if self.secret in text else 0o644)
        self._tomcats_alone(self.tomcat / "conf/server.xml", 0o600)
        for application in self.applications:
            for inside in insides(application):
                self._tomcats_alone(inside, 0o700)
        return stack.lines_of(*texts.values())

    def _tomcats_alone(self, path: Path, mode: int) -> None:
        """Sets the mode of a file so that only the current user and Tomcat's group may read it. The proxy's user may
        not."""
        if self.tomcat_user:
            shutil.chown(path, group=pwd.getpwnam(self.tomcat_user).pw_gid)
            mode |= (mode & 0o500) >> 3
        path.chmod(mode)

    def commands(self) -> list[str]:
        """Returns the commands that start Tomcat and Apache."""
        whom = ["runuser", "-u", self.tomcat_user, "--"] if self.tomcat_user else []
        tomcat = [*whom, "env", f"CATALINA_BASE={self.tomcat}", str(stack.TOMCAT / "bin/catalina.sh"), "run"]
        return [shlex.join(tomcat), shlex.join(["apache2", "-f", str(self.httpd_conf)])]

    def readable(self) -> None:
        """Raises an error if a server's user may not read the site, so that all responses would be 403 or 404, or if
        Apache may read too much."""
        if os.geteuid() != 0:
            return
        closed = [word for name in stack.INSIDES for word in ("-iname", name, "-prune", "-o")]
        for user, places, but in ((self.public.user, ["app"], closed), (self.tomcat_user, ["app", "tomcat/conf"], [])):
            if user and (hidden := unreadable(user, [self.folder / place for place in places], but)):
                raise ConfigurationError(f"{user} may not read {hidden}: use `umask 022`, and a directory that all users "
                                         f"may enter (chmod o+x)")
        tomcats = [self.tomcat / "conf/server.xml", *(inside for one in self.applications for inside in insides(one))]
        if opened := found(self.public.user, tomcats, ["-maxdepth", "0", "-readable"]).stdout.strip():
            raise ConfigurationError(f"{self.public.user}, the user of Apache, may read {opened}: Tomcat needs a user with a group "
                                     "of its own (--tomcat-user)")


def insides(application: stack.Application) -> list[Path]:
    """Returns the directories for the application's internal use."""
    return [path for path in application.folder.iterdir() if path.name.upper() in stack.INSIDES]


def unreadable(user: str, places: Sequence[Path], but: Sequence[str]) -> str:
    """Returns the first path that a user may not read, or an empty string. `but` contains find(1) arguments that
    exclude paths."""
    done = found(user, places, [*but, "!", "-readable"])
    # find itself reports an error for a directory that it may not enter.
    return done.stdout.strip() or (str(places[0].parent) if done.returncode != 0 else "")


def found(user: str, places: Sequence[Path], words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs find(1) as a user, with the arguments `words` for the directories `places`. The output is the first
    path found, or empty."""
    account = pwd.getpwnam(user)
    return subprocess.run(["find", *map(str, places), *words, "-print", "-quit"], cwd="/", user=account.pw_uid,
                          group=account.pw_gid, extra_groups=os.getgrouplist(user, account.pw_gid),
                          capture_output=True, text=True)
