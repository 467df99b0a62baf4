# SPDX-License-Identifier: Apache-2.0
"""The configurations of Tomcat and of what stands in front of it, as their authors advise."""

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
"""Content types that are text and therefore compressible. Pictures, sound and archives are compressed already."""

VERSIONED = r"(?:[-.][0-9a-f]{8,64}|[-.]v?[0-9]+(?:\.[0-9]+)+)(?:\.min)?\.[A-Za-z0-9]+$"
"""Names with a hash or a version: their content never changes, because a new one gets a new name."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Application:
    """An application, exploded, at its place in the site."""

    context: str
    """`/shop`, or nothing for the root."""
    folder: Path
    static: Sequence[str] = field(default_factory=tuple)
    """Paths within the context that the proxy may serve itself: `/files` is a directory, with everything in it."""
    files: frozenset[str] = frozenset()
    """Those of `static` that are files."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Content types that the application itself gives to endings."""
    untyped: frozenset[str] = frozenset()
    """Endings without a type, of static files whose names hold another ending that has one."""


@dataclass(frozen=True)
class Public:
    """Settings that a public site needs and that a measurement does without."""

    user: str = "www-data"
    """Apache's user when root starts it."""
    hsts: bool = False
    redirect: str = ""
    """`[ADDRESS:]PORT` without TLS, from which all is sent to the site."""


def certificate(folder: Path, name: str = "127.0.0.1") -> Tls:
    """One that this machine makes for itself, as a private test needs it: of an elliptic curve, for a month."""
    tls = Tls(folder / "certificate.pem", folder / "key.pem")
    names = dict.fromkeys(["IP:127.0.0.1", "DNS:localhost", f"{'IP' if is_address(name) else 'DNS'}:{name}"])
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "30", "-subj", f"/CN={name}" if len(name) <= 64 else "/",  # X.520: ub-common-name
         "-addext", f"subjectAltName={','.join(names)}", "-addext", "basicConstraints=critical,CA:FALSE",
         "-keyout", str(tls.key), "-out", str(tls.certificate)], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"openssl makes no certificate for {name}: {done.stderr.strip()}")
    tls.key.chmod(0o600)
    return tls


def is_address(name: str) -> bool:
    """True if it is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# Tomcat

def tomcat_server(*, http: int | None = None, ajp: int | None = None, secret: str = "",
                  tls: Tls | None = None, compression: bool = False, automatic: bool = False,
                  workers: int = 200, applications: str = "webapps") -> str:
    """server.xml: connectors on loopback, and what the folder `applications` holds."""
    common = f'address="127.0.0.1" maxThreads="{workers}" connectionTimeout="300000"'
    connectors = []
    if http is not None:
        # What is sent by sendfile is not compressed: Tomcat's manual has one choose.
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
"""conf/context.xml for applications without JSP and websockets: nothing is searched for them at the start."""


def content_types(table: Path = TYPES) -> dict[str, str]:
    """The machine's content types by file name ending; Apache reads the same table."""
    found = {}
    for line in table.read_text().splitlines() if table.exists() else []:
        kind, *endings = line.split("#")[0].split() or [""]
        found |= dict.fromkeys(endings, kind)
    return found


def tomcat_web(types: Path = TYPES, *, jsp: bool = True) -> str:
    """conf/web.xml: files, pages in JSP, and the types that the machine knows."""
    mappings = [f"  <mime-mapping><extension>{ending}</extension><mime-type>{kind}</mime-type></mime-mapping>"
                for ending, kind in content_types(types).items()]
    return TOMCAT_WEB.format(types="\n".join(mappings), jsp=TOMCAT_JSP if jsp else "")


def tomcat_command(base: Path) -> list[str]:
    """Starts Tomcat with a base of its own, in the foreground; it ends if a port is taken."""
    paths = f"{TOMCAT}/bin/bootstrap.jar:{TOMCAT}/bin/tomcat-juli.jar"
    return ["java", "-cp", paths, f"-Dcatalina.home={TOMCAT}", f"-Dcatalina.base={base}",
            f"-Djava.io.tmpdir={base}/temp", "-Djava.awt.headless=true",
            "-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true",
            "org.apache.catalina.startup.Bootstrap", "start"]


# Apache

def apache_modules(names: Iterable[str]) -> str:
    return "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)


def apache_kind(kind: str) -> list[str]:
    """The modules that lead to the application."""
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
# Nothing of versions leaves the server.
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
    # Without it Apache looks at each folder of a path at each request (its manual, "Performance Tuning").
    Options FollowSymLinks
    Require all denied
</Directory>
# What belongs to the application's inside, however it is written.
<LocationMatch "(?i)/+(?:WEB-INF|META-INF)(?:/|;|$)">
    Require all denied
</LocationMatch>
"""

EXPIRES = f"""\
    # A name with a version or a hash never gets another content; any other is asked for again, and is mostly 304.
    Header set Cache-Control "no-cache" "expr=%{{REQUEST_STATUS}} -in {{'200','304'}}"
    <FilesMatch "{VERSIONED}">
        Header set Cache-Control "public, max-age=31536000, immutable" "expr=%{{REQUEST_STATUS}} -in {{'200','304'}}"
    </FilesMatch>
"""

UNTYPED = """\
    # app.js.map is no script: the last ending alone says the type, and nobody knows it.
    <FilesMatch "\\.(?:{endings})$">
        Header unset Content-Type
    </FilesMatch>
"""

INSIDES = ("WEB-INF", "META-INF")
"""Directories of an application that are for its own use."""

REFUSED = r"/\.(?!well-known(?:/|$))|~(?:[;/]|$)"
"""Dot files and what editors leave behind. /.well-known/ is meant for visitors (RFC 8615)."""

PUBLIC = """\
User {user}
Group {user}
LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" combined
CustomLog "{folder}/access.log" combined
# Who sends slower than this would hold a thread for nothing (mod_reqtimeout; seconds, and bytes in a second).
RequestReadTimeout handshake=20 header=20-40,MinRate=500 body=20,MinRate=500
# Dot files and what editors leave behind are for nobody, even where the application would answer them.
<LocationMatch "{refused}">
    Require all denied
</LocationMatch>
"""

REDIRECT = """\
# Without TLS nothing is answered but where the site is.
Listen {listen}
<VirtualHost *:{port}>
    ServerName {name}
    SSLEngine Off
    # RFC 6797, 7.2: never without TLS.
    Header always unset Strict-Transport-Security
    Redirect permanent / https://{authority}/
</VirtualHost>
"""

NO_FILE = """\
    # Welcome pages, redirects to folders, pages for what is missing: of these the application knows more.
    <If "! -f %{REQUEST_FILENAME}">
        SetHandler jakarta-servlet
        SetEnv JK_WORKER_NAME app
        # What Apache calls a folder, where the application says no type.
        Header unset Content-Type "expr=%{CONTENT_TYPE} == 'httpd/unix-directory'"
    </If>
"""


def apache(folder: Path, applications: Sequence[Application], *, listen: str, kind: str, backend: int,
           secret: str = "", name: str = "127.0.0.1", tls: Tls | None = None, compression: bool = True,
           keep_alive: int = 15, public: Public | None = None) -> str:
    """The whole configuration, without anything of the machine's own."""
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
                     "# What is compressed is another thing than the file: its tag would never be found again.\n"
                     "DeflateAlterETag Remove\n")
    if tls:
        parts.append(f"SSLEngine On\nSSLProtocol -all +TLSv1.2 +TLSv1.3\nSSLCipherSuite ECDHE+AESGCM:ECDHE+CHACHA20\n"
                     f"SSLSessionTickets Off\nSSLSessionCache \"shmcb:{folder}/ssl(512000)\"\n"
                     f"SSLCertificateFile \"{tls.certificate}\"\nSSLCertificateKeyFile \"{tls.key}\"\n")
    if public and public.hsts:
        parts.append("# Browsers ask over TLS alone for a year, and let nobody past a certificate that is wrong.\n"
                     "Header always set Strict-Transport-Security \"max-age=31536000\"\n")
    if kind == "jk":
        parts.append(f"JkWorkersFile \"{folder}/workers.properties\"\nJkShmFile \"{folder}/jk.shm\"\n"
                     f"JkLogFile \"{folder}/{log}\"\nJkLogLevel error\n"
                     "# What was asked goes on undecoded, and not at all if two servers could read it in two ways.\n"
                     "JkOptions +ForwardURIEscaped +RejectUnsafeURI\n")
    # The first alias that fits is taken: /shop/new stands before /shop.
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
    """Everything goes to the application but what is static: the folder itself and all that is in it."""
    context, lines = application.context, []
    patterns = [pattern for path in application.static
                for pattern in ([path] if path in application.files else [path, f"{path}/*"])]
    if kind == "jk":
        lines += ["# All goes to the application, and what is static is taken out again."]
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
    """How files are answered: none of this is looked at where a request goes to the application."""
    text = "    Require all granted\n" + (EXPIRES if application.static else "")
    text += "".join(f"    AddType \"{kind}\" .{ending}\n" for ending, kind in sorted(application.types.items()))
    if application.untyped:
        text += UNTYPED.format(endings="|".join(map(_regex, sorted(application.untyped))))
    return (text + (NO_FILE if is_public else "")).rstrip()


def _regex(text: str) -> str:
    """Letters and the like stand for themselves; a space would end the word in Apache's configuration."""
    return re.sub(r"[^A-Za-z0-9/_-]", lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 128
                  else found[0], text)


def workers(backend: int, secret: str) -> str:
    """workers.properties of mod_jk. The secret is what a program on this machine needs to pose as the proxy."""
    return (f"worker.list=app\nworker.app.type=ajp13\nworker.app.host=127.0.0.1\nworker.app.port={backend}\n"
            f"worker.app.secret={secret}\nworker.app.socket_keepalive=true\nworker.app.ping_mode=CI\n")


# nginx

def nginx(folder: Path, static: Path, *, port: int, backend: int, tls: Tls | None = None,
          compression: bool = False) -> str:
    """The whole configuration: static files from the exploded application, all else to the application."""
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
    """How many lines of configuration there are, without blank ones and comments."""
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sum(1 for line in lines if line and not line.startswith(("#", "<!--")))
