# SPDX-License-Identifier: Apache-2.0
"""The configurations of Tomcat and of its reverse proxies, as their authors recommend."""

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from xml.sax.saxutils import quoteattr

TOMCAT = Path("/usr/share/tomcat10")
MODULES = Path("/usr/lib/apache2/modules")
TYPES = Path("/etc/mime.types")

COMPRESSED = ("text/html text/css text/plain text/xml text/javascript application/javascript "
              "application/json application/xml application/xhtml+xml application/rss+xml "
              "application/manifest+json image/svg+xml")
"""Content types that are text and therefore compressible. Pictures, sound and archives are already compressed."""

VERSIONED = r"(?:[-.][0-9a-f]{8,64}|[-.]v?[0-9]+(?:\.[0-9]+)+)(?:\.min)?\.[A-Za-z0-9]+$"
"""File names with a hash or a version. Their content never changes, because new content gets a new name."""


@dataclass(frozen=True)
class Tls:
    """A certificate and its private key, as PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Application:
    """An exploded web application, and its path on the site."""

    context: str
    """The path on the site, such as `/shop`, or an empty string for the root."""
    folder: Path
    static: Sequence[str] = field(default_factory=tuple)
    """Paths within the context that the proxy may serve itself. A directory such as `/files` includes its content."""
    files: frozenset[str] = frozenset()
    """The elements of `static` that are files."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Content types that the application itself assigns to extensions."""
    untyped: frozenset[str] = frozenset()
    """Extensions without a type that follow an extension with a type in a static file's name, as in `app.js.map`."""


@dataclass(frozen=True)
class Public:
    """Settings that a public site needs, but a measurement does not."""

    user: str = "www-data"
    """The user of Apache if root starts Apache."""
    hsts: bool = False
    redirect: str = ""
    """The `[ADDRESS:]PORT` that listens without TLS and redirects all requests to the site."""


def certificate(folder: Path, name: str = "127.0.0.1") -> Tls:
    """Creates a self-signed certificate for private tests, with an elliptic-curve key, valid for 30 days."""
    tls = Tls(folder / "certificate.pem", folder / "key.pem")
    names = dict.fromkeys(["IP:127.0.0.1", "DNS:localhost", f"{'IP' if is_address(name) else 'DNS'}:{name}"])
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "30", "-subj", f"/CN={name}" if len(name) <= 64 else "/",  # X.520: ub-common-name
         "-addext", f"subjectAltName={','.join(names)}", "-addext", "basicConstraints=critical,CA:FALSE",
         "-keyout", str(tls.key), "-out", str(tls.certificate)], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"openssl cannot create a certificate for {name}: {done.stderr.strip()}")
    tls.key.chmod(0o600)
    return tls


def is_address(name: str) -> bool:
    """Returns true for an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# Tomcat

def tomcat_server(*, http: int | None = None, ajp: int | None = None, secret: str = "",
                  tls: Tls | None = None, compression: bool = False, automatic: bool = False,
                  workers: int = 200, applications: str = "webapps") -> str:
    """Returns server.xml with connectors on the loopback interface and the content of the directory
    `applications`."""
    common = f'address="127.0.0.1" maxThreads="{workers}" connectionTimeout="300000"'
    connectors = []
    if http is not None:
        # Tomcat does not compress files sent with sendfile, so its manual recommends one of the two.
        shrinks = (f' compression="on" useSendfile="false" compressibleMimeType="{COMPRESSED.replace(" ", ",")}"'
                   if compression else "")
        keeps = 'maxKeepAliveRequests="-1" keepAliveTimeout="300000"'
        if tls is None:
            connectors.append(f'<Connector protocol="HTTP/1.1" port="{http}" {common} {keeps}{shrinks} />')
        else:
            connectors.append(
                f'<Connector protocol="org.apache.coyote.http11.Http11NioProtocol" port="{http}" SSLEnabled="true"\n'
                f'        {common} {keeps}{shrinks}>\n'
                f'      <SSLHostConfig protocols="TLSv1.2+TLSv1.3">\n'
                f'        <Certificate certificateFile={quoteattr(str(tls.certificate))}\n'
                f'            certificateKeyFile={quoteattr(str(tls.key))} type="EC" />\n'
                f'      </SSLHostConfig>\n    </Connector>')
    if ajp is not None:
        connectors.append(f'<Connector protocol="AJP/1.3" port="{ajp}" {common} keepAliveTimeout="-1"\n'
                          f'        secretRequired="true" secret={quoteattr(secret)} />')
    lines = "\n    ".join(connectors)
    delay = ' backgroundProcessorDelay="1"' if automatic else ""
    deploy = str(automatic).lower()
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1" shutdown="SHUTDOWN">
  <Service name="Catalina">
    {lines}
    <Engine name="Catalina" defaultHost="localhost"{delay}>
      <Host name="localhost" appBase={quoteattr(applications)} unpackWARs="true" autoDeploy="{deploy}"
          undeployOldVersions="{deploy}">
        <Valve className="org.apache.catalina.valves.ErrorReportValve" showReport="false" showServerInfo="false" />
      </Host>
    </Engine>
  </Service>
</Server>
"""


TOMCAT_WEB = """<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
  <servlet>
    <servlet-name>default</servlet-name>
    <servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class>
    <load-on-startup>1</load-on-startup>
  </servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
{jsp}{types}
  <welcome-file-list><welcome-file>index.html</welcome-file><welcome-file>index.jsp</welcome-file></welcome-file-list>
</web-app>
"""

TOMCAT_JSP = """\
  <servlet>
    <servlet-name>jsp</servlet-name>
    <servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class>
    <load-on-startup>3</load-on-startup>
  </servlet>
  <servlet-mapping>
    <servlet-name>jsp</servlet-name><url-pattern>*.jsp</url-pattern><url-pattern>*.jspx</url-pattern>
  </servlet-mapping>
"""


TOMCAT_CONTEXT = """<?xml version="1.0" encoding="UTF-8"?>
<Context containerSciFilter="JasperInitializer|WsSci">
  <JarScanner scanClassPath="false" scanManifest="false" />
</Context>
"""
"""conf/context.xml for applications without JSP and WebSocket, which skips the search for these at startup."""


def content_types(table: Path = TYPES) -> dict[str, str]:
    """Returns the machine's content types by file name extension; Apache reads the same table."""
    found = {}
    for line in table.read_text().splitlines() if table.exists() else []:
        kind, *endings = line.split("#")[0].split() or [""]
        found |= dict.fromkeys(endings, kind)
    return found


def tomcat_web(types: Path = TYPES, *, jsp: bool = True) -> str:
    """Returns conf/web.xml with support for files and JSP, and the machine's content types."""
    mappings = [f"  <mime-mapping><extension>{ending}</extension><mime-type>{kind}</mime-type></mime-mapping>"
                for ending, kind in content_types(types).items()]
    return TOMCAT_WEB.format(types="\n".join(mappings), jsp=TOMCAT_JSP if jsp else "")


def tomcat_command(base: Path) -> list[str]:
    """Returns the command that runs Tomcat with a separate base directory in the foreground. It exits if a
    port is in use."""
    paths = f"{TOMCAT}/bin/bootstrap.jar:{TOMCAT}/bin/tomcat-juli.jar"
    return ["java", "-cp", paths, f"-Dcatalina.home={TOMCAT}", f"-Dcatalina.base={base}",
            f"-Djava.io.tmpdir={base}/temp", "-Djava.awt.headless=true",
            "-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true",
            "org.apache.catalina.startup.Bootstrap", "start"]


# Apache

def apache_modules(names: Iterable[str]) -> str:
    return "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)


def apache_kind(kind: str) -> list[str]:
    """Returns the modules that connect to the application."""
    return {"jk": ["jk"], "ajp": ["proxy", "proxy_ajp"], "http": ["proxy", "proxy_http"]}[kind]


APACHE = """\
ServerRoot "{folder}"
DefaultRuntimeDir "{folder}"
PidFile "{folder}/httpd.pid"
ErrorLog "{folder}/{log}"
LogLevel warn
{modules}
Listen {listen}
ServerName {name}
# Do not disclose versions.
ServerTokens Prod
ServerSignature Off
TraceEnable Off
Header always unset X-Powered-By
Header unset X-Powered-By
Header always set X-Content-Type-Options nosniff
StartServers 1
ServerLimit 4
ThreadsPerChild 64
MaxRequestWorkers 256
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout {keep_alive}
Timeout {timeout}
GracefulShutdownTimeout 5
EnableSendfile On
TypesConfig {types}
AddDefaultCharset off
FileETag MTime Size
<Directory />
    AllowOverride None
    # Otherwise Apache checks each directory of a path on each request (its manual, "Performance Tuning").
    Options FollowSymLinks
    Require all denied
</Directory>
# Internal directories of the application, in any spelling.
<LocationMatch "(?i)/+(?:WEB-INF|META-INF)(?:/|;|$)">
    Require all denied
</LocationMatch>
"""

EXPIRES = f"""\
    # The content of a name with a version or a hash never changes; others are revalidated, mostly with 304.
    Header set Cache-Control "no-cache" "expr=%{{REQUEST_STATUS}} -in {{'200','304'}}"
    <FilesMatch "{VERSIONED}">
        Header set Cache-Control "public, max-age=31536000, immutable" "expr=%{{REQUEST_STATUS}} -in {{'200','304'}}"
    </FilesMatch>
"""

UNTYPED = """\
    # app.js.map is not a script: only the last extension determines the type, which is unknown.
    <FilesMatch "\\.(?:{endings})$">
        Header unset Content-Type
    </FilesMatch>
"""

INSIDES = ("WEB-INF", "META-INF")
"""Directories for the application's internal use."""

REFUSED = r"/\.(?!well-known(?:/|$))|~(?:[;/]|$)"
"""Dot files and backup files of editors. /.well-known/ is meant for visitors (RFC 8615)."""

PUBLIC = """\
User {user}
Group {user}
LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" combined
CustomLog "{folder}/access.log" combined
# Slower clients would block a thread (mod_reqtimeout; seconds, and bytes per second).
RequestReadTimeout handshake=20 header=20-40,MinRate=500 body=20,MinRate=500
# Dot files and backup files of editors are never served, even if the application would serve them.
<LocationMatch "{refused}">
    Require all denied
</LocationMatch>
"""

REDIRECT = """\
# Without TLS, all requests are redirected to the site.
Listen {listen}
<VirtualHost *:{port}>
    ServerName {name}
    SSLEngine Off
    # Must not be sent without TLS (RFC 6797, 7.2).
    Header always unset Strict-Transport-Security
    Redirect permanent / https://{authority}/
</VirtualHost>
"""

NO_FILE = """\
    # The application handles welcome pages, redirects to directories, and pages for missing files.
    <If "! -f %{REQUEST_FILENAME}">
        SetHandler jakarta-servlet
        SetEnv JK_WORKER_NAME app
        # Apache's type for a directory, if the application sets no type.
        Header unset Content-Type "expr=%{CONTENT_TYPE} == 'httpd/unix-directory'"
    </If>
"""


def apache(folder: Path, applications: Sequence[Application], *, listen: str, kind: str, backend: int,
           secret: str = "", name: str = "127.0.0.1", tls: Tls | None = None, compression: bool = True,
           keep_alive: int = 15, public: Public | None = None) -> str:
    """Returns a complete configuration, which uses no part of the machine's own configuration."""
    log = "error.log" if public else "log"
    modules = ["mpm_event", "authz_core", "mime", "headers", "alias", *apache_kind(kind)]
    modules += ["ssl", "socache_shmcb"] if tls else []
    modules += ["filter", "deflate"] if compression else []
    modules += ["reqtimeout", "env"] if public else []
    parts = [APACHE.format(folder=folder, modules=apache_modules(modules), listen=listen, name=name, log=log, types=TYPES,
                           keep_alive=keep_alive, timeout=60 if public else 300)]
    if public:
        parts.append(PUBLIC.format(folder=folder, user=public.user, refused=REFUSED))
    if compression:
        parts.append(f"AddOutputFilterByType DEFLATE {COMPRESSED}\nDeflateCompressionLevel 4\n"
                     "# A compressed response differs from the file: with its own tag, it could never be revalidated.\n"
                     "DeflateAlterETag Remove\n")
    if tls:
        parts.append(f"SSLEngine On\nSSLProtocol -all +TLSv1.2 +TLSv1.3\nSSLCipherSuite ECDHE+AESGCM:ECDHE+CHACHA20\n"
                     f"SSLSessionTickets Off\nSSLSessionCache \"shmcb:{folder}/ssl(512000)\"\n"
                     f"SSLCertificateFile \"{tls.certificate}\"\nSSLCertificateKeyFile \"{tls.key}\"\n")
    if public and public.hsts:
        parts.append("# For a year, browsers use only TLS and accept no invalid certificate.\n"
                     "Header always set Strict-Transport-Security \"max-age=31536000\"\n")
    if kind == "jk":
        parts.append(f"JkWorkersFile \"{folder}/workers.properties\"\nJkShmFile \"{folder}/jk.shm\"\n"
                     f"JkLogFile \"{folder}/{log}\"\nJkLogLevel error\n"
                     "# Forward the URI undecoded, and reject ambiguous URIs.\n"
                     "JkOptions +ForwardURIEscaped +RejectUnsafeURI\n")
    # The first matching alias is used, so /shop/new comes before /shop.
    longest_first = sorted(applications, key=lambda application: -len(application.context))
    parts += [_application(one, kind, backend, secret, is_public=public is not None) for one in longest_first]
    if public and public.redirect:
        parts.append(_redirect(public.redirect, listen, name))
    return "\n".join(parts)


def _redirect(redirect: str, listen: str, name: str) -> str:
    port = listen.rsplit(":", 1)[-1]
    return REDIRECT.format(listen=redirect, port=redirect.rsplit(":", 1)[-1], name=name,
                           authority=name if port == "443" else f"{name}:{port}")


def _application(application: Application, kind: str, backend: int, secret: str, *, is_public: bool) -> str:
    """Forwards everything to the application, except for static content."""
    context, lines = application.context, []
    patterns = [pattern for path in application.static
                for pattern in ([path] if path in application.files else [path, f"{path}/*"])]
    if kind == "jk":
        lines += ["# Everything goes to the application, except for static paths."]
        lines += [f"JkMount {context}/* app"] + ([f"JkMount {context} app"] if context else [])
        lines += [f"JkUnMount {context}{pattern} app" for pattern in patterns]
    else:
        scheme = "ajp" if kind == "ajp" else "http"
        shared = f" secret={secret}" if kind == "ajp" else ""
        lines += [f"ProxyPassMatch ^{_regex(context + path)}(?:/|$) !" if path not in application.files
                  else f"ProxyPassMatch ^{_regex(context + path)}$ !" for path in application.static]
        lines += [f"ProxyPass {context}/ {scheme}://127.0.0.1:{backend}{context}/ enablereuse=on{shared}",
                  f"ProxyPassReverse {context}/ http://127.0.0.1:{backend}{context}/"]
        lines += ["ProxyRequests Off", "ProxyPreserveHost On", "ProxyVia Off"]
    alias = f"Alias {context} \"{application.folder}\"" if context else f"DocumentRoot \"{application.folder}\""
    return "\n".join([alias, f"<Directory \"{application.folder}\">", _files(application, is_public=is_public),
                      "</Directory>", *lines, ""])


def _files(application: Application, *, is_public: bool) -> str:
    """Returns the settings for files, which do not apply to requests that go to the application."""
    text = "    Require all granted\n" + (EXPIRES if application.static else "")
    text += "".join(f"    AddType \"{kind}\" .{ending}\n" for ending, kind in sorted(application.types.items()))
    if application.untyped:
        text += UNTYPED.format(endings="|".join(map(_regex, sorted(application.untyped))))
    return (text + (NO_FILE if is_public else "")).rstrip()


def _regex(text: str) -> str:
    """Escapes a text for a regular expression, including spaces, which would end the argument in Apache's
    configuration."""
    return re.sub(r"[^A-Za-z0-9/_-]", lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 128
                  else found[0], text)


def workers(backend: int, secret: str) -> str:
    """Returns workers.properties of mod_jk. The secret keeps other programs on this machine from posing as the
    proxy."""
    return (f"worker.list=app\nworker.app.type=ajp13\nworker.app.host=127.0.0.1\nworker.app.port={backend}\n"
            f"worker.app.secret={secret}\nworker.app.socket_keepalive=true\nworker.app.ping_mode=CI\n")


# nginx

def nginx(folder: Path, static: Path, *, port: int, backend: int, tls: Tls | None = None,
          compression: bool = False) -> str:
    """Returns the whole configuration: static files from the exploded application, everything else from the
    application."""
    secure = "" if tls is None else f"""
        ssl_certificate {tls.certificate};
        ssl_certificate_key {tls.key};
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;
        ssl_session_tickets off;"""
    shrinks = "" if not compression else f"""
    gzip on;
    gzip_comp_level 4;
    gzip_proxied any;
    gzip_types {COMPRESSED.replace("text/html ", "")};"""
    return f"""daemon off;
pid {folder}/nginx.pid;
error_log {folder}/log warn;
worker_processes auto;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    access_log off;
    server_tokens off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 300;
    keepalive_requests 100000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    open_file_cache max=1000 inactive=60s;{shrinks}
    map $uri $caching {{
        "~{VERSIONED}" "public, max-age=31536000, immutable";
        default no-cache;
    }}
    upstream app {{
        server 127.0.0.1:{backend};
        keepalive 64;
    }}
    server {{
        listen 127.0.0.1:{port}{" ssl" if tls else ""};
        server_name 127.0.0.1;{secure}
        add_header X-Content-Type-Options nosniff always;
        location ~* /(WEB-INF|META-INF)(/|$) {{ return 404; }}
        location /files/ {{
            root {static};
            add_header X-Content-Type-Options nosniff always;
            add_header Cache-Control $caching;
            error_page 405 @not_allowed;
        }}
        location @not_allowed {{
            add_header Allow "GET, HEAD" always;
            return 405;
        }}
        location / {{
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""


def lines_of(*texts: str) -> int:
    """Counts lines of configuration, without blank lines and comments."""
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sum(1 for line in lines if line and not line.startswith(("#", "<!--")))
