#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""http_clients.py serve ADDRESS PORT | run ADDRESS PORT [small]: an HTTP/1 server that does what common servers do not, and
clients that do what common clients do not.

The server answers each request by its path; `serve` prints "ready" when it listens.  `run` prints one line for each
exchange; with "small" the messages of more than 100,000 bytes have fewer.
"""
import socket
import socketserver
import sys
import threading


def answer(status, *fields, body=b"", version=b"HTTP/1.1"):
    lines = [version + b" " + status] + list(fields)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def sized(status, body):
    return answer(status, b"Content-Length: %d" % len(body), body=body)


# Path to the response, and whether the connection is closed after it.
CHUNKS = b"5;name=value\r\nhello\r\n00010 ; x\r\n0123456789abcdef\r\n0\r\nX-Trailer: yes\r\n\r\n"
ANSWERS = {
    b"/plain": (sized(b"200 OK", b"hello\n"), False),
    b"/empty": (sized(b"200 OK", b""), False),
    b"/none": (answer(b"204 No Content"), False),
    b"/unmodified": (answer(b"304 Not Modified", b"Content-Length: 1000"), False),
    b"/chunked": (answer(b"200 OK", b"Transfer-Encoding: chunked", body=CHUNKS), False),
    b"/both": (answer(b"200 OK", b"Content-Length: 3", b"Transfer-Encoding: chunked", body=CHUNKS), False),
    b"/hints": (answer(b"103 Early Hints", b"Link: </style.css>") + sized(b"200 OK", b"hinted"), False),
    b"/list": (answer(b"200 OK", b"Content-Length: 4, 4", body=b"list"), False),
    b"/fold": (answer(b"200 OK", b"X-Folded: a", b" b", b"Content-Length:", b"\t4", body=b"fold"), False),
    b"/lines": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nlines", False),
    b"/reasonless": (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", False),
    b"/error": (sized(b"500 Internal Server Error", b"broken"), False),
    b"/close": (answer(b"200 OK", b"Connection: close", body=b"until the end" * 1000), True),
    b"/old": (answer(b"200 OK", body=b"old", version=b"HTTP/1.0"), True),
    b"/oldalive": (answer(b"200 OK", b"Connection: keep-alive", b"Content-Length: 3", body=b"old",
                          version=b"HTTP/1.0"), False),
    b"/cut": (answer(b"200 OK", b"Content-Length: 1000", body=b"cut"), True),
    b"/silence": (b"", True),
    b"/large": (sized(b"200 OK", b"large " * 50000), False),
    b"/upgrade": (answer(b"101 Switching Protocols", b"Upgrade: echo", b"Connection: Upgrade",
                         body=b"\0\1GET /no HTTP/1.1\r\n\r\n"), True),
}


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class Handler(socketserver.StreamRequestHandler):
    def read_header(self):
        lines = []
        while True:
            line = self.rfile.readline()
            if line == b"":
                return []
            if line.strip() == b"":
                if lines:
                    return lines
                continue
            lines.append(line.rstrip(b"\r\n"))

    def handle(self):
        while True:
            header = self.read_header()
            if not header:
                return
            method, path = header[0].split(b" ")[:2]
            fields = {line.split(b":")[0].strip().lower(): line.split(b":", 1)[1].strip()
                      for line in header[1:] if b":" in line}
            if fields.get(b"expect", b"").lower() == b"100-continue":
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.read_body(fields)
            if method == b"CONNECT":
                refused = b"refused" in path
                self.wfile.write(sized(b"403 Forbidden", b"no") if refused else
                                 answer(b"200 Connection established", b"Content-Length: 99"))
                if refused:
                    continue
                self.wfile.write(self.rfile.readline())
                return
            reply, close = ANSWERS.get(path.split(b"?")[0], (sized(b"404 Not Found", b"no such path"), False))
            if method == b"HEAD":
                reply = reply.split(b"\r\n\r\n")[0] + b"\r\n\r\n"
            self.wfile.write(reply)
            if close:
                return

    def read_body(self, fields):
        if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                self.rfile.read(size)
                if size == 0:
                    break
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            self.rfile.read(int(fields.get(b"content-length", b"0").split(b",")[0]))


def request(method, path, *fields, body=b"", version=b"HTTP/1.1"):
    return b"\r\n".join([method + b" " + path + b" " + version, b"Host: netobs.example"] + list(fields)) + \
        b"\r\n\r\n" + body


def read_until(s, end, limit=1 << 22):
    got = b""
    while not got.endswith(end) and len(got) < limit:
        piece = s.recv(65536)
        if piece == b"":
            break
        got += piece
    return got


def exchange(address, name, *pieces):
    """Each piece is bytes to send, and the bytes with which the answer to it ends: b"" for the end of the connection."""
    with socket.create_connection(address) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for data, end in pieces:
            s.sendall(data)
            if end == b"":
                read_until(s, b"\xff\xff\xff\xff")
            elif end is not None:
                read_until(s, end)
    print(name, "done", flush=True)


def run(address, small):
    size = 3000 if small else 100000
    get = lambda path, *fields: request(b"GET", path, *fields)
    for path, (reply, close) in ANSWERS.items():
        if small and path == b"/large":
            continue
        exchange(address, path.decode(), (get(path), b"" if close else reply[-8:]))
    exchange(address, "kept", *((get(path), ANSWERS[path][0][-12:]) for path in
                                (b"/plain", b"/chunked", b"/list", b"/hints", b"/fold", b"/lines", b"/error")))
    exchange(address, "head", (request(b"HEAD", b"/plain"), b"\r\n\r\n"), (request(b"HEAD", b"/chunked"), b"\r\n\r\n"),
             (get(b"/plain"), b"hello\n"))
    exchange(address, "unmodified, then plain", (get(b"/unmodified"), b"\r\n\r\n"), (get(b"/none"), b"\r\n\r\n"),
             (get(b"/plain"), b"hello\n"))
    exchange(address, "pipeline", (b"".join(get(b"/plain?%d" % i) for i in range(7)) + get(b"/error"), b"broken"))
    exchange(address, "pipeline of several kinds",
             (request(b"HEAD", b"/large") + get(b"/chunked") + get(b"/hints") + get(b"/none") +
              request(b"POST", b"/plain", b"Content-Length: 5", body=b"abcde") + get(b"/error"), b"broken"))
    exchange(address, "post", (request(b"POST", b"/plain", b"Content-Length: %d" % size, body=b"x" * size), b"hello\n"),
             (request(b"PUT", b"/error", b"Transfer-Encoding: chunked", body=CHUNKS), b"broken"))
    exchange(address, "continue", (request(b"POST", b"/plain", b"Content-Length: 4", b"Expect: 100-continue"),
                                   b"Continue\r\n\r\n"), (b"body", b"hello\n"))
    exchange(address, "connect", (request(b"CONNECT", b"netobs.example:443"), b"established\r\nContent-Length: 99\r\n\r\n"),
             (b"GET /inside HTTP/1.1\r\n", b"\r\n"))
    exchange(address, "connect refused", (request(b"CONNECT", b"refused.example:443"), b"no"), (get(b"/plain"), b"hello\n"))
    exchange(address, "long target", (get(b"/" + b"u" * 3000 + b"end"), b"such path"))
    exchange(address, "255 and 256 bytes", (get(b"/" + b"a" * 254), b"such path"), (get(b"/" + b"b" * 255), b"such path"))
    exchange(address, "many fields", (get(b"/plain", *(b"X-Field-%d: %d" % (i, i) for i in range(size // 10))), b"hello\n"))
    exchange(address, "long field", (get(b"/plain", b"X-Long: " + b"l" * size, b"User-Agent: late"), b"hello\n"))
    exchange(address, "byte by byte", *[(bytes([c]), None) for c in get(b"/plain?bytes")[:-1]], (b"\n", b"hello\n"))
    exchange(address, "empty lines first", (b"\r\n\r\n" + get(b"/plain?late"), b"hello\n"),
             (b"\r\n" + get(b"/empty?late"), b"\r\n\r\n"))
    exchange(address, "agent", (get(b"/plain", b"User-Agent: " + b"a" * 300), b"hello\n"))
    exchange(address, "absolute", (get(b"http://netobs.example/plain"), b"such path"))


if sys.argv[1] == "serve":
    server = Server((sys.argv[2], int(sys.argv[3])), Handler)
    print("ready", flush=True)
    server.serve_forever()
else:
    run((sys.argv[2], int(sys.argv[3])), sys.argv[4:] == ["small"])
