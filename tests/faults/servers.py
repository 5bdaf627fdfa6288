#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""servers.py KIND PORT [KEY=VALUE...]: a server, IPv4 and IPv6.  Prints "ready" when it listens.

The kinds are the functions serve_KIND below; the comment of each says which keys it knows.  Those of all kinds on TCP:
receive=BYTES, send=BYTES (buffers), nagle=1, fastopen=1, queue=LENGTH.
"""
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STATUS = {200: "OK", 404: "Not Found", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable"}
FOREVER = 600
kept = []  # connections that are never closed


class Options(dict):
    """The keys of the command line."""

    def number(self, key, default=0.0):
        """The value as a number."""
        return float(self.get(key, default))

    def pair(self, key):
        """NAME,NUMBER as a name and a number; a name that nothing has if the key is absent."""
        name, _, number = self.get(key, ",0").partition(",")
        return name or None, float(number)


def wait(seconds):
    """The server takes its time."""
    time.sleep(seconds)  # no event: the fault is this time


def receive_until(connection, end):
    """Bytes up to and with `end`; empty if the client closes before."""
    data = b""
    while end not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    return data


def receive_exactly(connection, count):
    """So many bytes."""
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError("closed")
        data += piece
    return data


def receive_all(connection):
    """Reads to the client's FIN; the number of bytes."""
    count = 0
    while piece := connection.recv(65536):
        count += len(piece)
    return count


def drain(connection):
    """Reads in the background."""
    def run():
        try:
            receive_all(connection)
        except OSError:
            pass
    threading.Thread(target=run, daemon=True).start()


def reset_on_close(connection):
    """close() sends a RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# --- HTTP ---

def read_request(connection, data):
    """The next request: its path, its host, and what follows it; None at the end."""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, data = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    length = int(headers.get("content-length", 0))
    while len(data) < length:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    return lines[0].split()[1], headers.get("host", ""), data[length:]


def serve_http(connection, options):
    """delay=S, body=BYTES, status=N, slow=/PATH,S, bad=HOST,STATUS, split=1 (two writes an answer), close=1."""
    rest = b""
    while request := read_request(connection, rest):
        path, host, rest = request
        slow_path, slow = options.pair("slow")
        bad_host, bad = options.pair("bad")
        wait(slow if path == slow_path else options.number("delay", 0.008))
        status = int(bad if host == bad_host else options.number("status", 200))
        size = int(path[6:]) if path.startswith("/file/") else int(options.number("body", 6))
        header = f"HTTP/1.1 {status} {STATUS[status]}\r\nServer: lab\r\nContent-Length: {size}\r\n\r\n".encode()
        if "split" in options:
            connection.send(header)
            header = b""
        connection.sendall(header + b"x" * size)
        if "close" in options:
            return


def serve_https(connection, options):
    """As http, with a certificate of its own."""
    serve_http(options["context"].wrap_socket(connection, server_side=True), options)


def serve_large(connection, options):
    """size=BYTES, chunk=BYTES, gap=S: a large answer, in pieces."""
    connection.recv(4096)
    size, chunk = int(options.number("size", 150000)), int(options.number("chunk", 16384))
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode())
    for begin in range(0, size, chunk):
        connection.sendall(b"x" * min(chunk, size - begin))
        if "gap" in options:
            wait(options.number("gap"))


def serve_dying(connection, _):
    """Resets in the middle of its answer."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 12000)
    wait(0.2)
    reset_on_close(connection)


def serve_poll(connection, options):
    """gap=S: answers each request after that time, as a long poll without events."""
    while receive_until(connection, b"\r\n\r\n"):
        wait(options.number("gap", 3))
        connection.sendall(ANSWER)


def serve_idle(connection, options):
    """idle=S, reset=1: answers, and closes a connection that is idle for so long."""
    connection.settimeout(options.number("idle", 1))
    try:
        while receive_until(connection, b"\r\n\r\n"):
            wait(0.005)
            connection.sendall(ANSWER)
    except TimeoutError:
        if "reset" in options:
            reset_on_close(connection)


def serve_early(connection, _):
    """Answers, and closes first."""
    receive_until(connection, b"\r\n\r\n")
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")


def serve_websocket(connection, options):
    """gap=S, times=N: after the upgrade it pushes at odd times."""
    receive_until(connection, b"\r\n\r\n")
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
    drain(connection)
    for number in range(int(options.number("times", 5))):
        wait(options.number("gap", 1.9) + number % 3 * 0.4)
        message = b'{"event":"price","value":%d}' % (number * 7)
        connection.sendall(b"\x81" + bytes([len(message)]) + message)
    wait(0.3)
    connection.sendall(b"\x88\2\3\xe8")
    wait(0.1)


# --- other protocols ---

def serve_lines(connection, options):
    """delay=S, slow=COMMAND,S: a line protocol with a greeting."""
    connection.sendall(b"+OK lab ready\r\n")
    slow_word, slow = options.pair("slow")
    with connection.makefile("rb") as lines:
        for line in lines:
            word = (line.split() or [b""])[0].decode()
            wait(slow if word == slow_word else options.number("delay", 0.004))
            connection.sendall(b"+OK %s 42 items\r\n" % word.encode())
            if word == "QUIT":
                return


def serve_sql(connection, options):
    """delay=S, slow=TABLE,S: messages like those of PostgreSQL."""
    receive_exactly(connection, struct.unpack("!I", receive_exactly(connection, 4))[0] - 4)
    ready = b"Z\0\0\0\5I"
    connection.sendall(b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0015.0\0" + ready)
    table, slow = options.pair("slow")
    while True:
        kind = receive_exactly(connection, 1)
        body = receive_exactly(connection, struct.unpack("!I", receive_exactly(connection, 4))[0] - 4)
        if kind == b"X":
            return
        wait(slow if table and table.encode() in body else options.number("delay", 0.006))
        row = b"D" + struct.pack("!IHI", 4 + 2 + 4 + 60, 1, 60) + b"v" * 60
        head = b"T" + struct.pack("!IH", 30, 1) + b"value\0" + struct.pack("!IHIhiH", 0, 0, 25, -1, -1, 0)
        connection.sendall(head + row * 3 + b"C\0\0\0\x0dSELECT 3\0" + ready)


def serve_silent(connection, _):
    """Reads a request, and never answers."""
    kept.append(connection)
    connection.recv(4096)
    wait(FOREVER)


def serve_half(connection, _):
    """Reads to the end, and never closes."""
    kept.append(connection)
    receive_all(connection)
    wait(FOREVER)


def serve_sink(connection, options):
    """step=BYTES, gap=S: reads slowly; stop=BYTES: reads no more after those."""
    count, step = 0, int(options.number("step", 65536))
    while piece := connection.recv(step):
        count += len(piece)
        wait(options.number("gap"))
        if "stop" in options and count >= options.number("stop"):
            wait(FOREVER)


def serve_end(connection, _):
    """Answers when the client has sent its FIN."""
    count = receive_all(connection)
    wait(0.01)
    connection.sendall(b"%d bytes read\n" % count)


def serve_push(connection, options):
    """gap=S, times=N: sends messages for which nothing was asked."""
    drain(connection)
    for number in range(int(options.number("times", 6))):
        wait(options.number("gap", 1.7))
        connection.sendall(b"<message from=bob>hello %d, this is a pushed message of another user</message>" % number)
    wait(0.5)


def serve_unaccepted(connection, _):
    """Its connections wait in the accept queue: see listen()."""


# --- DNS ---

def dns_answer(query, options):
    """The time that an answer takes, None for ever, and the answer.  delay=S, rcode=N, slow=NAME,S, bad=NAME,RCODE,
    mute=NAME or 1."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += query[at] + 1
    name = ".".join(labels)
    slow_name, slow = options.pair("slow")
    bad_name, bad = options.pair("bad")
    rcode = int(bad if name == bad_name else options.number("rcode"))
    answer = query[:2] + struct.pack("!HHHHH", 0x8180 | rcode, 1, int(rcode == 0), 0, 0) + query[12:at + 5]
    if rcode == 0:
        answer += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\x4d\x01\x02"
    if options.get("mute") in ("1", name):
        return None, answer
    return slow if name == slow_name else options.number("delay", 0.003), answer


def serve_dnstcp(connection, options):
    """DNS over TCP."""
    while len(head := connection.recv(2)) == 2:
        delay, answer = dns_answer(receive_exactly(connection, struct.unpack("!H", head)[0]), options)
        wait(FOREVER if delay is None else delay)
        connection.sendall(struct.pack("!H", len(answer)) + answer)


def serve_queries(server, options):
    """The queries of one socket, side by side."""
    def answer_one(query, client):
        delay, answer = dns_answer(query, options)
        if delay is not None:
            wait(delay)
            server.sendto(answer, client)
    while True:
        threading.Thread(target=answer_one, args=server.recvfrom(2048), daemon=True).start()


def listen_dns(port, options):
    """A socket for each address; with any=1 one for all, whose answers come from the first address."""
    addresses = [(socket.AF_INET, f"10.77.1.{host}") for host in range(2, 7)]
    addresses += [(socket.AF_INET6, f"fd77:2::{host}") for host in range(2, 7)]
    for family, address in [(socket.AF_INET, "0.0.0.0")] if "any" in options else addresses:
        server = socket.socket(family, socket.SOCK_DGRAM)
        server.bind((address, port))
        threading.Thread(target=serve_queries, args=(server, options), daemon=True).start()


# --- a connection, and the server ---

def run(serve, connection, options):
    """Serves one connection, and closes it."""
    try:
        serve(connection, options)
    except (OSError, ValueError):
        pass
    connection.close()


def https_context():
    """A certificate that no client trusts."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",
                    "-out", "certificate.pem", "-days", "1", "-subj", "/CN=shop.example"],
                   check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("certificate.pem", "key.pem")
    return context


def listen(kind, port, options):
    """A listening socket of a kind on TCP."""
    if kind == "https":
        options["context"] = https_context()
    server = socket.socket(socket.AF_INET6)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for key, option in (("receive", socket.SO_RCVBUF), ("send", socket.SO_SNDBUF)):
        if key in options:
            server.setsockopt(socket.SOL_SOCKET, option, int(options[key]))
    server.bind(("::", port))
    if "fastopen" in options:
        server.setsockopt(socket.IPPROTO_TCP, 23, 16)  # TCP_FASTOPEN, which socket has since Python 3.12
    server.listen(int(options.number("queue", 128)))
    return server


def accept(server, kind, options):
    """Accepts for ever."""
    while kind != "unaccepted":
        connection = server.accept()[0]
        if "nagle" not in options:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=run, args=(globals()["serve_" + kind], connection, options), daemon=True).start()
    wait(FOREVER)


def main():
    """The command line."""
    kind, port, *rest = sys.argv[1:]
    options = Options(word.split("=", 1) for word in rest)
    if kind == "dns":
        listen_dns(int(port), options)
        print("ready", flush=True)
        wait(FOREVER)
    server = listen(kind, int(port), options)
    print("ready", flush=True)
    accept(server, kind, options)


if __name__ == "__main__":
    main()
