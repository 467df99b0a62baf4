# SPDX-License-Identifier: Apache-2.0
"""A server of a small REST experiment: `web.py VARIANT`. Some variants are wrong on purpose. The server does not use a kit."""

import email.utils
import json
import os
import socket
import sys
import threading
import time
import urllib.parse

VARIANT = sys.argv[1]
GREETING = b'{"greeting":"Hello World!"}'
BEGAN = time.time()
answered = 0
last_answer = 0.0
slots = threading.Semaphore(6)


class Connection:
    def __init__(self, peer, files):
        self.peer, self.files, self.buffer = peer, files, b""

    def serve(self):
        while request := self.request():
            self.respond(*request)
            if request[2] and VARIANT != "stays-open" or VARIANT == "closes":
                break
        self.peer.close()
        slots.release()

    def receive(self):
        piece = self.peer.recv(65536)
        self.buffer += piece
        return piece

    def request(self):
        if VARIANT == "whole-only":
            self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            if not self.receive():
                return None
            if VARIANT == "whole-only" and b"\r\n\r\n" not in self.buffer:
                return ("GET", "/torn", True, b"")
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            if not self.receive():
                return None
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        if VARIANT == "drops-pipelined":
            self.buffer = b""
        method, path, _ = lines[0].split(" ")
        return method, path, headers.get("connection") == "close", body

    def respond(self, method, path, closing, body):
        global answered, last_answer
        answered += 1
        last_answer = time.monotonic()
        if VARIANT == "dies" and answered > 2000:
            os._exit(3)
        if VARIANT == "slow":
            time.sleep(0.04)  # much of what is served in a turn is served after its load has ended
        status, content, kind, more = route(method, path, body, self.files)
        if VARIANT == "turns" and answered > 2000:
            content = content.swapcase()
        date = BEGAN if VARIANT == "frozen-date" else time.time()
        head = [f"HTTP/1.1 {status} So", f"Content-Type: {kind}", f"Content-Length: {len(content)}", *more]
        if VARIANT != "no-date":
            head.append(f"Date: {email.utils.formatdate(date, usegmt=True)}")
        if closing or VARIANT == "closes":
            head.append("Connection: close")
        silent = method == "HEAD" and VARIANT != "talking-head"
        self.peer.sendall("\r\n".join([*head, "", ""]).encode() + (b"" if silent else content))


def route(method, path, body, files):
    """Returns a status, a body, a content type and further header lines."""
    json_type, none = "application/json", ("text/plain", [])
    place, _, query = path.partition("?")
    allowed = {"/api": "GET", "/api/built": "GET", "/api/echo": "POST", "/files/some.bin": "GET"}.get(place)
    if allowed is None:
        return (200 if VARIANT == "finds-all" else 404, b"", *none)
    if method != allowed and (method, allowed) != ("HEAD", "GET"):
        return (405, b"", "text/plain", [] if VARIANT == "no-allow" else [f"Allow: {allowed}"])
    if place == "/api":
        return (200, GREETING, "text/html" if VARIANT == "html" else json_type, [])
    if place == "/api/built":
        number = urllib.parse.parse_qs(query).get("number", [""])[0]
        if not number.isdecimal():
            return (400, b"", *none)
        number = 17 if VARIANT == "prepared" else int(number)
        return (200, json.dumps({"number": number}).encode(), json_type, [])
    if place == "/api/echo":
        try:
            value = json.loads(body)
        except ValueError:
            return (200 if VARIANT == "takes-all" else 400, b"", *none)
        return (200, body if VARIANT == "raw-echo" else json.dumps(value).encode(), json_type, [])
    content = bytes(1000)
    if VARIANT != "other-file":
        with open(os.path.join(files, "some.bin"), "rb") as file:
            content = file.read()
    return (200, content, "application/octet-stream", [])


def compile_later(marker):
    """Makes all processes except the first one compute for a while, without any request."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        return
    threading.Thread(target=compute, args=(marker + ".done",), daemon=True).start()


def compute(done):
    until = time.monotonic() + 2  # half of the most that a quick run warms up
    while time.monotonic() < until:
        pass
    print("compiled", file=sys.stderr, flush=True)
    open(done, "w").close()


def compute_after_answers():
    """Computes for a while after each response, like a garbage collector."""
    while True:
        if time.monotonic() - last_answer > 0.3:
            time.sleep(0.0005)


def accept(listener, files):
    while True:
        if VARIANT == "few-connections":
            slots.acquire()
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        if VARIANT == "counts":
            with open(sys.argv[2], "a") as file:
                file.write(f"{answered}\n")
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(peer, files).serve, daemon=True).start()


def main():
    print(f"@lab hello protocol=1 subject={VARIANT} thread=0 runtime=CPython library=socket", flush=True)
    listener = None
    if VARIANT == "compiles":
        compile_later(sys.argv[2])
    if VARIANT == "restless":
        threading.Thread(target=compute_after_answers, daemon=True).start()
    for line in sys.stdin:
        verb, *words = line.split()
        arguments = dict(word.split("=", 1) for word in words)
        if verb == "open":
            listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
            files = urllib.parse.unquote(arguments["files"])
            threading.Thread(target=accept, args=(listener, files), daemon=True).start()
            host = "192.0.2.1" if VARIANT == "elsewhere" else "127.0.0.1"
            url = f"http://{host}:{listener.getsockname()[1]}"
            more = " processes=1" if VARIANT == "names-others" else ""
            print(f"@lab opened url={url} workers=0 loops=1{more}", flush=True)
        elif verb == "close":
            listener.close()
            print("@lab closed" if VARIANT == "tells-nothing" else f"@lab closed answers={answered}", flush=True)
        elif verb == "quit":
            return
        else:
            print("@lab error code=unsupported message=a%20server%20is%20loaded", flush=True)


main()
