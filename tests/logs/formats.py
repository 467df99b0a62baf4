# SPDX-License-Identifier: Apache-2.0
"""Encodes requests as lines of many access log formats, following the documentation of each producer.

The module was written independently of benchlab's parsers. A format encodes a request and describes which of its values a line
preserves."""

import json
import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Callable
from zoneinfo import ZoneInfo

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MS, US, S = 10**6, 10**3, 10**9


@dataclass
class Request:
    """A request from the server's point of view. Times are in ns since 1970, durations in ns."""

    time_ns: int
    method: str
    path: str
    query: bytes
    status: int
    sent: int
    duration_ns: int | None
    agent: bytes
    client: str
    user: str

    def target(self) -> bytes:
        return self.path.encode() + (b"?" + self.query if self.query else b"")

    def utc(self) -> datetime:
        return datetime.fromtimestamp(self.time_ns // S, timezone.utc)


@dataclass
class Format:
    """A log format of a server, with the command-line options that benchlab needs to read it."""

    name: str
    encode: Callable[[Request], bytes]
    words: tuple[str, ...] = ()
    header: Callable[[Request], bytes] = lambda first: b""
    step_ns: int = US
    """Durations are truncated to multiples of this number of ns."""
    needed: bytes = b"}"
    """A line that is cut before the last occurrence of this text is certainly malformed."""
    is_json: bool = False
    has_bytes: bool = True
    in_order: bool = False
    """True if times must not go backward, for example because lines have no dates."""
    zone: str = "UTC"
    has_others: bool = False
    """True if benchlab treats lines of no format as other messages of the program."""


def clf(request: Request, zone: str) -> str:
    local = request.utc().astimezone(ZoneInfo(zone))
    return f"{local.day:02}/{MONTHS[local.month - 1]}/{local:%Y:%H:%M:%S %z}"


def apache(text: bytes) -> bytes:
    """Escapes clients' data as Apache does (mod_log_config)."""
    out = bytearray()
    for byte in text:
        if byte in b'"\\':
            out += b"\\" + bytes([byte])
        elif 32 <= byte < 127:
            out.append(byte)
        else:
            out += {9: b"\\t", 10: b"\\n", 13: b"\\r"}.get(byte, b"\\x%02x" % byte)
    return bytes(out)


def nginx(text: bytes) -> bytes:
    """Escapes data as nginx does: bytes below 32 and above 126, quotation marks and backslashes."""
    return b"".join(bytes([b]) if 32 <= b < 127 and b not in b'"\\' else b"\\x%02X" % b for b in text)


def haproxy(text: bytes) -> bytes:
    return b"".join(bytes([b]) if 32 <= b < 127 and b not in b'"#{}|' else b"#%02X" % b for b in text)


def number(ns: int | None, unit: int) -> str:
    return "-" if ns is None else str(ns // unit)


def decimal(ns: int | None, unit: int, places: int) -> str:
    if ns is None:
        return "-"
    step = unit // 10**places
    whole, rest = divmod(ns // step, 10**places)
    return f"{whole}.{rest:0{places}}"


def line_of_request(request: Request, escape: Callable[[bytes], bytes], protocol: str = "HTTP/1.1") -> bytes:
    return request.method.encode() + b" " + escape(request.target()) + b" " + protocol.encode()


def common(request: Request, escape: Callable[[bytes], bytes], zone: str) -> bytes:
    head = f"{request.client} - {request.user} [{clf(request, zone)}] ".encode()
    return head + b'"' + line_of_request(request, escape) + f'" {request.status} {request.sent or "-"}'.encode()


def apache_timed(request: Request) -> bytes:
    tail = b' "-" "' + apache(request.agent) + b'" ' + number(request.duration_ns, US).encode()
    return common(request, apache, "America/New_York") + tail


def apache_parts(request: Request) -> bytes:
    local = request.utc().astimezone(ZoneInfo("Europe/Berlin"))
    fraction = request.time_ns // MS % 1000
    time = f"{local.day:02}/{MONTHS[local.month - 1]}/{local:%Y:%H:%M:%S}.{fraction:03} {local:%z}"
    head = f"{number(request.duration_ns, US)} [{time}] {request.status} {request.sent} ".encode()
    return head + b'"' + request.method.encode() + b" " + apache(request.target()) + b'" "' + apache(request.agent) + b'"'


def nginx_timed(request: Request) -> bytes:
    tail = b' "http://x/" "' + nginx(request.agent) + b'" ' + decimal(request.duration_ns, S, 3).encode()
    return common(request, nginx, "UTC") + tail


def nginx_upstream(request: Request) -> bytes:
    forwarded = ", ".join(["203.0.113.9", request.client])
    upstream = ["0.001", "0.001, 0.002 : -", "-"][request.sent % 3]
    head = f"{forwarded} {request.time_ns // S}.{request.time_ns // MS % 1000:03} {upstream} "
    head += f"{decimal(request.duration_ns, S, 3)} {request.status} {request.sent} "
    return head.encode() + b'"' + line_of_request(request, nginx, "HTTP/2.0") + b'" "' + nginx(request.agent) + b'"'


def traefik(request: Request) -> bytes:
    tail = b' "-" "' + nginx(request.agent) + b'" ' + f'{request.sent} "router@file" "http://172.17.0.3:80" '.encode()
    return common(request, nginx, "UTC") + tail + number(request.duration_ns or 0, MS).encode() + b"ms"


def iis_header(first: Request) -> bytes:
    fields = "time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes cs(User-Agent) time-taken"
    software = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n"
    return f"{software}#Date: {first.utc():%Y-%m-%d %H:%M:%S}\r\n#Fields: {fields}\r\n".encode()


def iis(request: Request) -> bytes:
    agent = b'"' + request.agent.replace(b'"', b'""').translate(None, b"\r\n\t\0") + b'"'
    query = request.query.translate(None, b' "\r\n\t\0') or b"-"
    head = f"{request.utc():%H:%M:%S} {request.client} {request.method} {request.path} ".encode() + query
    return head + f" {request.status} {request.sent} ".encode() + agent + b" " + number(request.duration_ns, MS).encode()


def cloudfront_header(_: Request) -> bytes:
    fields = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(User-Agent) time-taken"
    return f"#Version: 1.0\n#Fields: {fields}\n".encode()


def cloudfront(request: Request) -> bytes:
    agent = b"".join(bytes([b]) if 32 < b < 127 and b not in b'"%\\' else b"%%%02X" % b for b in request.agent) or b"-"
    fields = [f"{request.utc():%Y-%m-%d}", f"{request.utc():%H:%M:%S}", "FRA56-P1", str(request.sent), request.client,
              request.method, "d111.cloudfront.net", request.path, str(request.status)]
    return "\t".join(fields).encode() + b"\t" + agent + b"\t" + decimal(request.duration_ns, S, 3).encode()


def haproxy_http(request: Request) -> bytes:
    local = request.utc().astimezone(ZoneInfo("Europe/Berlin"))
    time = f"{local.day:02}/{MONTHS[local.month - 1]}/{local:%Y:%H:%M:%S}.{request.time_ns // MS % 1000:03}"
    total = -1 if request.duration_ns is None else request.duration_ns // MS
    head = f"Oct 26 01:00:00 lb haproxy[14389]: {request.client}:33317 [{time}] http-in~ static/srv1 10/0/30/69/{total} "
    head += f"{request.status} {request.sent} - - ---- 1/1/1/1/0 0/0 {{"
    return head.encode() + haproxy(request.agent) + b'} {} "' + line_of_request(request, haproxy) + b'"'


def envoy(request: Request) -> bytes:
    time = f"[{request.utc():%Y-%m-%dT%H:%M:%S}.{request.time_ns // MS % 1000:03}Z] "
    numbers = f'" {request.status} - via_upstream - "-" 0 {request.sent} {request.duration_ns // MS} 7 "-" "'
    tail = b'" "f097c809" "shop.example" "10.0.4.13:80" inbound|80|| - 10.0.0.9:80 -'
    return time.encode() + b'"' + line_of_request(request, nginx) + numbers.encode() + nginx(request.agent) + tail


def elb(request: Request) -> bytes:
    time = f"{request.utc():%Y-%m-%dT%H:%M:%S}.{request.time_ns // US % 10**6:06}Z"
    target = "-1" if request.duration_ns is None else decimal(request.duration_ns, S, 3)
    status = "-" if request.duration_ns is None else request.status
    head = f"h2 {time} app/staging/cb87 198.51.100.1:62611 172.16.1.1:443 0.006 {target} 0.000 {request.status} {status} 498 "
    url = request.method.encode() + b" https://shop.example:443" + nginx(request.target()) + b" HTTP/2.0"
    tail = b'" ECDHE TLSv1.2 arn:aws:x "Root=1" "shop.example" "-" 0 - "forward" "-" "-"'
    return head.encode() + f"{request.sent} ".encode() + b'"' + url + b'" "' + nginx(request.agent) + tail


def lograge(request: Request) -> bytes:
    """Writes the tag of the request as Rails' logger does, then lograge's keys and values. Nothing is escaped."""
    local = request.utc().astimezone(ZoneInfo("Europe/Berlin"))
    head = f"I, [{local:%Y-%m-%dT%H:%M:%S}.{request.time_ns // US % 10**6:06} #7]  INFO -- : [5a1b2c3d-0af7-6519-16cd-43dd8448eb21] "
    line = f"{head}method={request.method} path={request.path} format=html controller=HomeController action=index status={request.status}"
    error = b" error='ActionController::BadRequest: " + request.query + b"'" if request.status >= 400 else b""
    allocations = f" allocations={request.sent}" if request.time_ns // MS % 2 else ""
    times = f"{allocations} duration={decimal(request.duration_ns, MS, 2)} view=1.50 db=0.25 params=".encode()
    return line.encode() + error + times + request.query + b" user_agent=" + request.agent.replace(b"\t", b" ")


def s3(request: Request) -> bytes:
    """Writes a record of a bucket's server access log. Characters that are invalid in a request line are encoded, but quotation
    marks are not."""
    target = b"".join(bytes([b]) if 32 < b < 127 else b"%%%02X" % b for b in request.target())
    total = "-" if request.duration_ns is None else str(request.duration_ns // MS)
    head = f"79a59df900b949e5 shop [{clf(request, 'UTC')}] {request.client} - 3E57427F3EXAMPLE REST.GET.OBJECT a/b%2520c "
    figures = f'" {request.status} - {request.sent or "-"} 5 {total} 3 "-" "'
    tail = b'" - s9lz= SigV4 ECDHE AuthHeader shop.s3.us-west-1.amazonaws.com TLSV1.2 - Yes us-east-1'
    line = request.method.encode() + b" " + target + b" HTTP/1.1"
    return head.encode() + b'"' + line + figures.encode() + request.agent.replace(b"\t", b" ") + tail


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def dumped(value: dict) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def istio(request: Request) -> bytes:
    return dumped({
        "authority": "shop.example", "bytes_received": 0, "bytes_sent": request.sent, "duration": request.duration_ns // MS,
        "method": request.method, "path": text(request.target()), "request_id": "f0", "response_code": request.status,
        "response_flags": "-", "start_time": f"{request.utc():%Y-%m-%dT%H:%M:%S}.{request.time_ns // MS % 1000:03}Z",
        "upstream_service_time": "9", "user_agent": text(request.agent), "x_forwarded_for": None})


def caddy(request: Request) -> bytes:
    return dumped({
        "level": "info", "ts": request.time_ns / S, "logger": "http.log.access.log0", "msg": "handled request",
        "request": {"remote_ip": request.client, "proto": "HTTP/2.0", "method": request.method, "host": "x",
                    "uri": text(request.target()), "headers": {"User-Agent": [text(request.agent)], "Date": ["x"], "Path": ["/no"]}},
        "bytes_read": 3, "duration": float(decimal(request.duration_ns, S, 9)), "size": request.sent, "status": request.status,
        "resp_headers": {"Server": ["Caddy"]}})


def rails(request: Request) -> bytes:
    return dumped({
        "method": request.method, "path": text(request.target()), "format": "html", "controller": "Home", "action": "index",
        "status": request.status, "duration": float(decimal(request.duration_ns, MS, 2)), "view": 1.5, "db": 0.25,
        "@timestamp": f"{request.utc():%Y-%m-%dT%H:%M:%S}.000Z", "user_agent": text(request.agent), "params": {"path": "/no"}})


def pino(request: Request) -> bytes:
    return dumped({
        "level": 30, "time": request.time_ns // MS, "pid": 7, "hostname": "h",
        "req": {"id": 1, "method": request.method, "url": text(request.target()), "headers": {"user-agent": text(request.agent)}},
        "res": {"statusCode": request.status, "headers": {"content-length": "5"}}, "responseTime": request.duration_ns // MS,
        "msg": "request completed"})


def google(request: Request) -> bytes:
    http = {"requestMethod": request.method, "requestUrl": "https://shop.example" + text(request.target()),
            "status": request.status, "responseSize": str(request.sent), "userAgent": text(request.agent)}
    if request.duration_ns is not None:
        http["latency"] = decimal(request.duration_ns, S, 6) + "s"
    return dumped({"httpRequest": http, "insertId": "x", "timestamp": f"{request.utc():%Y-%m-%dT%H:%M:%S}.5Z"})


def opentelemetry(request: Request) -> bytes:
    return dumped({
        "timestamp": f"{request.utc():%Y-%m-%dT%H:%M:%S}Z", "http": {"request": {"method": request.method}},
        "url.path": text(request.target()), "http.response.status_code": request.status,
        "user_agent.original": text(request.agent), "http.response.body.size": request.sent,
        "duration_ms": float(decimal(request.duration_ns, MS, 3))})


def own_names(request: Request) -> bytes:
    local = request.utc().astimezone(ZoneInfo("Europe/Berlin"))
    return dumped({"a": {"when": f"{local:%Y-%m-%d %H:%M:%S}", "what": text(request.target()), "path": "/no"},
                   "took": {"lots": request.duration_ns // US}, "verb": request.method, "status": request.status,
                   "sent": request.sent, "who": text(request.agent)})


def otlp(request: Request) -> bytes:
    """Writes a batch of one span, as the OpenTelemetry Collector's file exporter does."""
    texts = {"http.request.method": request.method, "url.path": request.path, "url.query": text(request.query),
             "user_agent.original": text(request.agent)}
    numbers = {"http.response.status_code": request.status, "http.response.body.size": request.sent}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]
    attributes += [{"key": key, "value": {"intValue": str(value)}} for key, value in numbers.items()]
    span = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "GET", "kind": 2,
            "startTimeUnixNano": str(request.time_ns), "endTimeUnixNano": str(request.time_ns + request.duration_ns),
            "attributes": attributes, "status": {}}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return dumped({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": [span]}]}]})


APACHE_PARTS = '%D [%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] %>s %B "%m %U%q" "%{User-Agent}i"'
NGINX_UPSTREAM = '$http_x_forwarded_for $msec $upstream_response_time $request_time $status $bytes_sent "$request" "$http_user_agent"'

FORMATS = [
    Format("apache", apache_timed, ("--log-format", '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D'), needed=b'"'),
    Format("apache, found", apache_timed, ("--duration-unit", "us"), needed=b'] "'),
    Format("apache, time in parts", apache_parts, ("--log-format", APACHE_PARTS), needed=b'"'),
    Format("nginx, found", nginx_timed, step_ns=MS, needed=b'] "'),
    Format("nginx, upstreams", nginx_upstream, ("--log-format", NGINX_UPSTREAM), step_ns=MS, needed=b'"'),
    Format("traefik", traefik, step_ns=MS, needed=b'] "'),
    Format("iis", iis, (), iis_header, step_ns=MS, in_order=True, needed=b" "),
    Format("cloudfront", cloudfront, (), cloudfront_header, step_ns=MS, needed=b"\t"),
    Format("haproxy", haproxy_http, ("--zone", "Europe/Berlin"), step_ns=MS, zone="Europe/Berlin", needed=b'} {} "'),
    Format("envoy", envoy, step_ns=MS, needed=b'Z] "'),
    Format("elb", elb, step_ns=MS, needed=b" 498 "),
    Format("s3", s3, step_ns=MS, needed=b" REST."),
    Format("lograge", lograge, ("--zone", "Europe/Berlin"), step_ns=10 * US, has_bytes=False, zone="Europe/Berlin",
           has_others=True, needed=b" duration="),
    Format("istio", istio, step_ns=MS, is_json=True),
    Format("caddy", caddy, step_ns=1, is_json=True),
    Format("rails", rails, step_ns=10 * US, is_json=True, has_bytes=False),
    Format("pino", pino, step_ns=MS, is_json=True, has_bytes=False),
    Format("google", google, step_ns=US, is_json=True),
    Format("opentelemetry", opentelemetry, step_ns=US, is_json=True),
    Format("otlp", otlp, step_ns=1, is_json=True),
    Format("own names", own_names,
           ("--fields", "time=a.when,path=a.what,duration=took.lots,bytes=sent,agent=who", "--duration-unit", "us",
            "--zone", "Europe/Berlin"), step_ns=US, is_json=True, zone="Europe/Berlin"),
]

HOSTILE = [b"", b"q=1", b'q="x"', b"a\\", b"\\\"", b"x=[10/Oct/2025:13:00:36 -0700]", b"\xff\xfe\x80", b"nul=\0", b"\x1b[31m",
           "ü=€".encode(), b"a=b&c=d%20e", b'" 200 5 "-" "x" 1', b"'--", b"{\"uri\":\"/no\"}", b"x" * 3000]
AGENTS = [b"Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", b'Mozilla/5.0 (\\"Acme\\")', b"", b"\xc3\x28", b"a\tb", b"-"]
CLIENTS = ["192.0.2.7", "2001:db8::1", "::1", "::ffff:192.0.2.1"]
PATHS = ["/", "/search", "/about", "/api/orders", "/cart/checkout", "/legal/terms"]


def is_twice(time_s: int, zone: str) -> bool:
    """Returns true if the clock of a zone shows this time twice."""
    local = datetime.fromtimestamp(time_s, ZoneInfo(zone))
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def requests(seed: int, count: int, form: Format) -> list[Request]:
    """Generates requests around midnight, and around the days on which clocks change."""
    draw = random.Random(f"{seed} {form.name}")
    begins = [datetime(2025, 10, 25, 21, tzinfo=timezone.utc), datetime(2025, 3, 29, 22, tzinfo=timezone.utc),
              datetime(2024, 2, 28, 23, 30, tzinfo=timezone.utc), datetime(2025, 12, 31, 23, tzinfo=timezone.utc)]
    time = begins[seed % len(begins)]
    made = []
    while len(made) < count:
        time += timedelta(milliseconds=draw.randrange(60_000))
        # A time that a clock without an offset shows twice has no true value.
        if is_twice(int(time.timestamp()), form.zone):
            continue
        path = draw.choice(PATHS)
        typical_ns = 10 ** (4 + PATHS.index(path))
        duration = int(min(typical_ns * draw.lognormvariate(1, 1.5), 50 * S)) // form.step_ns * form.step_ns
        made.append(Request(
            time_ns=round(time.timestamp() * 1000) * MS, method=draw.choice(["GET", "GET", "POST", "DELETE"]), path=path,
            query=draw.choice(HOSTILE), status=draw.choice([200, 200, 200, 301, 404, 403, 500, 503]),
            sent=draw.choice([0, 1, 512, 10**9, draw.randrange(10**6)]), duration_ns=duration, agent=draw.choice(AGENTS),
            client=draw.choice(CLIENTS), user=draw.choice(["-", "frank", "[x]"]) if form.name != "haproxy" else "-"))
    if form.name in ("elb", "google", "haproxy", "s3"):
        made = [replace(r, duration_ns=None) if draw.random() < 0.1 else r for r in made]
    return made
