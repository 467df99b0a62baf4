# SPDX-License-Identifier: Apache-2.0
"""WAR and EAR archives: explodes them within limits, and finds the paths that a proxy may serve itself."""

import lzma
import re
import shutil
import stat
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stack import INSIDES, REFUSED, Application, content_types

MAX_FILES = 100_000
MAX_BYTES = 4 << 30
MAX_XML = 4 << 20

DYNAMIC = {".jsp", ".jspx", ".jspf", ".tag", ".tagx", ".class", ".jar"}
"""Files that the application processes, which are never served directly."""


DOUBTFUL = {".bak", ".dump", ".old", ".orig", ".php", ".save", ".sql"}
"""Backups and sources, which are rarely meant for visitors, but may be downloads."""


class ArchiveError(Exception):
    """Raised if the archive cannot be used; the message contains the reason."""


def explode(archive: Path, folder: Path, context: str | None = None) -> list[Application]:
    """Explodes the applications of a WAR or an EAR into separate directories."""
    match archive.suffix.lower():
        case ".war":
            found = [(archive, context if context is not None else _default_context(archive.stem))]
        case ".ear":
            if context is not None:
                raise ArchiveError("--context is only for a WAR: an EAR contains its contexts")
            inner = folder.with_name(folder.name + ".ear")
            _unpack(archive, inner)
            found = _modules(inner)
        case _:
            raise ArchiveError(f"{archive}: neither a .war nor a .ear")
    applications = []
    for war, path in found:
        path = "" if path in ("", "/") else path
        if path and not re.fullmatch(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+", path):
            raise ArchiveError(f"{path!r}: a context is a path such as /shop. Its names consist of letters, digits, `_`, `-` "
                               "and `.`, and do not begin with `.`")
        place = folder / (path.strip("/").replace("/", "#") or "ROOT")
        _unpack(war, place)
        static, files = static_paths(place)
        application = Application(path, place, static, files, _types(place / "WEB-INF/web.xml"))
        applications.append(replace(application, untyped=_untyped(application)))
    if archive.suffix.lower() == ".ear":
        shutil.rmtree(folder.with_name(folder.name + ".ear"))
    return [replace(one, static=[path for path in one.static if not _is_shared(one, path, applications)])
            for one in applications]


def _is_shared(one: Application, path: str, applications: list[Application]) -> bool:
    """Returns true if the context of another application is below a path or contains it. The proxy would then
    serve that application's files, too."""
    whole = f"{one.context}{path}/"
    return any(f"{other.context}/".startswith(whole)
               or len(other.context) > len(one.context) and whole.startswith(f"{other.context}/") for other in applications)


def _default_context(stem: str) -> str:
    """Returns the context path by Tomcat's rule: ROOT is the root, `a#b` is /a/b, and text after `##` is a version."""
    name = stem.split("##")[0]
    return "" if name == "ROOT" else "/" + name.replace("#", "/")


def _modules(ear: Path) -> list[tuple[Path, str]]:
    """Returns the web modules in an EAR's application.xml, or its WARs with their names if there is no such
    file."""
    descriptor = ear / "META-INF/application.xml"
    if not descriptor.exists():
        wars = sorted(ear.glob("*.war"))
        return [(war, _default_context(war.stem)) for war in wars]
    found = []
    for web in _elements(_xml(descriptor), "web"):
        texts = {_local(child.tag): (child.text or "").strip() for child in web}
        uri = PurePosixPath(texts.get("web-uri", ""))
        if uri.is_absolute() or ".." in uri.parts or not (ear / uri).is_file():
            raise ArchiveError(f"application.xml names {uri}, which is not in the archive")
        context = texts.get("context-root", "").strip("/")
        found.append((ear / uri, f"/{context}" if context else ""))
    if not found:
        raise ArchiveError("the EAR contains no web module")
    return found


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the files of an archive into a directory. Raises ArchiveError if the archive exceeds the limits, or an
    entry is not a regular file within the directory."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
            if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_BYTES:
                raise ArchiveError(f"{archive}: more than {MAX_FILES:,} files or {MAX_BYTES >> 30} GiB")
            for entry in entries:
                path = PurePosixPath(entry.filename)
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if (path.is_absolute() or ".." in path.parts or "\\" in entry.filename or not path.parts
                        or any(ord(c) < 32 for c in entry.filename) or kind not in (0, stat.S_IFREG)):
                    raise ArchiveError(f"{archive}: {entry.filename!r} is not a regular file within the archive")
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, place.open("xb") as target:
                    _copy(source, target, entry.file_size, archive)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
            FileExistsError) as error:
        raise ArchiveError(f"{archive}: {error}") from error


def _copy(source, target, size: int, archive: Path) -> None:
    """Copies at most `size` bytes, the size that the archive declares for the entry."""
    left = size
    while piece := source.read(min(1 << 20, left + 1)):
        left -= len(piece)
        if left < 0:
            raise ArchiveError(f"{archive}: an entry is larger than its declared size")
        target.write(piece)


def static_paths(folder: Path) -> tuple[list[str], frozenset[str]]:
    """Returns the paths that the proxy may serve itself: whole top-level directories if it may serve all their
    content, and single files otherwise. Paths that match a servlet, a filter or a constraint belong to the
    application. The second value contains the paths that are files."""
    patterns = list(_patterns(folder / "WEB-INF/web.xml"))
    static: list[str] = []
    files: set[str] = set()
    for entry in sorted(folder.iterdir()):
        path = f"/{entry.name}"
        if entry.name.upper() in INSIDES:
            continue
        inside = [entry] if entry.is_file() else [file for file in sorted(entry.rglob("*")) if file.is_file()]
        paths = ["/" + file.relative_to(folder).as_posix() for file in inside]
        paths = [path for path in paths if not is_refused(path)]
        free = [one for one in paths if _is_plain(one) and not any(_matches(p, one) for p in patterns)]
        below = entry.is_dir() and any(_reaches_into(pattern, path) for pattern in patterns)
        if entry.is_dir() and free and len(free) == len(paths) and not below:
            static.append(path)
        else:
            static += free
            files.update(free)
    return static, frozenset(files)


def is_inside(path: str) -> bool:
    """Returns true if a path is for the application's internal use."""
    return path.upper().startswith(tuple(f"/{name}/" for name in INSIDES))


def is_refused(path: str) -> bool:
    """Returns true if the proxy rejects the path, even if the application would serve it."""
    return re.search(REFUSED, path) is not None


def static_files(application: Application) -> list[str]:
    """Returns the static files of an application, as paths within it."""
    found = []
    for path in application.static:
        place = application.folder / path.strip("/")
        inside = [place] if path in application.files else [file for file in sorted(place.rglob("*")) if file.is_file()]
        found += ["/" + file.relative_to(application.folder).as_posix() for file in inside]
    return [path for path in found if not is_refused(path)]


def sources(application: Application) -> list[str]:
    """Returns JSP pages, classes and archives that visitors could request, as paths within the application."""
    found = ("/" + path.relative_to(application.folder).as_posix() for path in sorted(application.folder.rglob("*"))
             if path.suffix.lower() in DYNAMIC and path.is_file())
    return [path for path in found if not is_refused(path) and not is_inside(path)]


def doubtful(application: Application) -> list[str]:
    """Returns static files that look like backups or sources, as paths of the site."""
    return [application.context + path for path in static_files(application)
            if PurePosixPath(path).suffix.lower() in DOUBTFUL]


def _is_plain(path: str) -> bool:
    """Returns true unless the application processes the file, or the path contains WEB-INF, META-INF, a
    character with a special meaning, a space or a non-ASCII character."""
    return (PurePosixPath(path).suffix.lower() not in DYNAMIC and "/WEB-INF/" not in path.upper()
            and "/META-INF/" not in path.upper() and re.fullmatch(r"[\x21-\x7e]+", path) is not None
            and not set(path) & set('"<>\\^`{|}%;?#*'))


def _types(descriptor: Path) -> dict[str, str]:
    """Returns the content types that an application assigns to file name extensions, ignoring invalid ones."""
    if not descriptor.exists():
        return {}
    found = {}
    for mapping in _elements(_xml(descriptor), "mime-mapping"):
        texts = {_local(child.tag): (child.text or "").strip() for child in mapping}
        ending, kind = texts.get("extension", ""), texts.get("mime-type", "")
        if re.fullmatch(r"[A-Za-z0-9_+-]+", ending) and re.fullmatch(r"[\w.+-]+/[\w.+-]+(; ?charset=[\w-]+)?", kind, re.ASCII):
            found[ending] = kind
    return found


def _untyped(application: Application) -> frozenset[str]:
    """Finds extensions for which Apache and the application choose different types. Apache uses the last extension that
    it knows (mod_mime), and the application uses the last extension."""
    known = {ending.lower() for ending in (*content_types(), *application.types)}
    found = set()
    for path in static_files(application):
        _, *endings = PurePosixPath(path).name.split(".")
        is_typed = [ending.lower() in known for ending in endings]
        if any(is_typed) and not is_typed[-1]:
            found.add(endings[-1])
    return frozenset(found)


def _patterns(descriptor: Path) -> Iterator[str]:
    """Yields the URL patterns of servlets, filters and constraints."""
    if not descriptor.exists():
        return
    for name in "servlet-mapping", "filter-mapping", "web-resource-collection":
        for element in _elements(_xml(descriptor), name):
            yield from ((child.text or "").strip() for child in element if _local(child.tag) == "url-pattern")


def _matches(pattern: str, path: str) -> bool:
    """Matches a pattern as in Jakarta Servlet 6.0, 12.2. `/` is the default servlet, which serves files."""
    if pattern in ("/", ""):
        return False
    if pattern.endswith("/*"):
        return path == pattern[:-2] or path.startswith(pattern[:-1])
    if pattern.startswith("*."):
        return path.rsplit("/", 1)[1].endswith(pattern[1:])
    return path == pattern


def _reaches_into(pattern: str, folder: str) -> bool:
    """Returns true if the pattern matches a path in the directory, even if no such file exists."""
    return pattern.startswith(folder + "/") or pattern == folder or pattern == "/*" or (
        pattern.startswith("*."))


def _xml(path: Path) -> ElementTree.Element:
    """Parses a descriptor. Raises ArchiveError if it is too large or malformed, or if it declares entities,
    which could expand to an unlimited size."""
    text = path.read_bytes()
    if len(text) > MAX_XML:
        raise ArchiveError(f"{path.name} is larger than {MAX_XML >> 20} MiB")
    if b"<!ENTITY" in text:
        raise ArchiveError(f"{path.name} declares entities, which are not supported")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ArchiveError(f"{path.name}: {error}") from error


def _elements(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (element for element in root.iter() if _local(element.tag) == name)


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]
