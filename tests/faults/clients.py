#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""clients.py KIND [WORD...] [KEY=VALUE...]: a client.

The kinds are the functions below.  Keys of all: server=ADDRESS, source=ADDRESS, port=N, count=N (connections),
patience=S, gap=S (between connections), url=PATH, host=NAME.  "now" on standard output is the moment for a fault to
happen.
"""
import os
import random
import socket
import ssl
import struct
import sys
import threading
import time

KEEPALIVE = ((socket.TCP_KEEPIDLE, 2), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 4))


class Options(dict):
    """The keys of the command line."""

    def number(self, key, default=0.0):
        """The value as a number."""
        return float(self.get(key, default))

    def count(self, key, default=1):
        """The value as a whole number."""
        return int(self.get(key, default))


OPTIONS = Options()


def wait(seconds):
    """The client takes its time."""
    time.sleep(seconds)  # no event: the fault, or what is none, is this time


def mark():
    """The moment for the fault."""
    print("now", flush=True)


def each(count):
    """So many times, with the gap between."""
    for number in range(count):
        if number:
            wait(OPTIONS.number("gap"))
        yield number


def at_once(run, count, gap):
    """Runs a function so many times side by side."""
    threads = [threading.Thread(target=guarded, args=(run,)) for _ in range(count)]
    for thread in threads:
        thread.start()
        wait(gap)
    for thread in threads:
        thread.join()


def guarded(run):
    """What fails is the fault that the capture is to have."""
    try:
        run()
    except OSError:
        pass


# --- connections ---

def make_socket(kind=socket.SOCK_STREAM, server=None, source=None):
    """A socket for the server, bound to the source if there is one."""
    server, source = server or OPTIONS.get("server", "10.77.1.2"), source or OPTIONS.get("source")
    made = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, kind)
    if source:
        made.bind((source, 0))
    made.settimeout(OPTIONS.number("patience", 20))
    return made


def connect(port=None, server=None, source=None, nagle=False):
    """A connection."""
    made = make_socket(server=server, source=source)
    made.connect((server or OPTIONS.get("server", "10.77.1.2"), port or OPTIONS.count("port", 8000)))
    if not nagle:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def reset_on_close(connection):
    """close() sends a RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def receive_all(connection):
    """Reads to the end."""
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass


# --- HTTP ---

def request_bytes(url=None, host=None, body=b""):
    """A request of HTTP."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return (f"{'POST' if body else 'GET'} {url or OPTIONS.get('url', '/data')} HTTP/1.1\r\n"
            f"Host: {host or OPTIONS.get('host', 'shop.example')}\r\nUser-Agent: lab\r\n{length}\r\n").encode() + body


def read_answer(connection):
    """An answer with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += receive_some(connection)
    head, data = data.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length:")[1].split()[0])
    while len(data) < length:
        data += receive_some(connection)


def receive_some(connection):
    """Bytes; the end is an error."""
    data = connection.recv(65536)
    if not data:
        raise OSError("closed")
    return data


def get(connection, url=None, host=None):
    """A request and its answer."""
    connection.sendall(request_bytes(url, host))
    read_answer(connection)


def requests(*_):
    """requests=N on each of `count` connections."""
    for _ in each(OPTIONS.count("count")):
        def one():
            with connect() as connection:
                for _ in range(OPTIONS.count("requests")):
                    get(connection)
        guarded(one)


def https(*urls):
    """The URLs on each connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for _ in each(OPTIONS.count("count")):
        def one():
            with context.wrap_socket(connect(), server_hostname="shop.example") as connection:
                for url in urls:
                    get(connection, url)
        guarded(one)


def untrusting(*_):
    """HTTPS of a client that does not know who has signed the certificate; version=1.2 at most."""
    context = ssl.create_default_context()
    if OPTIONS.get("version") == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    for _ in each(OPTIONS.count("count")):
        guarded(lambda: context.wrap_socket(connect(), server_hostname="shop.example").recv(1))


def download(*_):
    """One request on each connection, whose answer the end of the connection ends."""
    for _ in each(OPTIONS.count("count")):
        with connect() as connection:
            connection.sendall(request_bytes())
            receive_all(connection)


def stalled(*_):
    """Reads a little, then nothing for pause=S."""
    with make_socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        connection.connect((OPTIONS.get("server", "10.77.1.2"), OPTIONS.count("port", 8000)))
        connection.sendall(request_bytes())
        for _ in range(5):
            connection.recv(2048)
        wait(OPTIONS.number("pause", 5))
        receive_all(connection)


def impatient(*_):
    """Closes in the middle of an answer, when its patience is at its end."""
    for _ in each(OPTIONS.count("count")):
        def one():
            with connect() as connection:
                connection.sendall(request_bytes())
                end = time.monotonic() + OPTIONS.number("patience", 20)
                while time.monotonic() < end:
                    connection.recv(4096)
        guarded(one)


def thinks(*_):
    """Lets pause=S pass before each request."""
    for _ in each(OPTIONS.count("count", 3)):
        with connect() as connection:
            for _ in range(2):
                wait(OPTIONS.number("pause", 2))
                get(connection)


def steady(*_):
    """requests=N, each pause=S after the other; the moment is after a third of them."""
    with connect() as connection:
        for number in range(OPTIONS.count("requests")):
            get(connection)
            wait(OPTIONS.number("pause"))
            if number == OPTIONS.count("requests") // 3:
                mark()


def upload(*_):
    """size=BYTES without an answer."""
    with connect() as connection:
        guarded(lambda: connection.sendall(request_bytes(body=b"y" * OPTIONS.count("size"))))
        wait(0.3)


def post(*_):
    """size=BYTES, with an answer."""
    for _ in each(OPTIONS.count("count")):
        def one():
            with connect() as connection:
                connection.sendall(request_bytes("/upload", body=b"y" * OPTIONS.count("size")))
                read_answer(connection)
        guarded(one)


def pipeline(*_):
    """requests=N at once on each connection."""
    for _ in each(OPTIONS.count("count")):
        with connect() as connection:
            number, data = OPTIONS.count("requests"), b""
            connection.sendall(request_bytes("/a") * number)
            while data.count(b"HTTP/1.1 200") < number or not data.endswith(b"xxxxxx"):
                data += receive_some(connection)


def write_write_read(*_):
    """requests=N in two writes each, with Nagle's algorithm."""
    with connect(nagle=True) as connection:
        for _ in range(OPTIONS.count("requests")):
            data = request_bytes("/save", body=b"v" * 30)
            connection.send(data[:-30])
            connection.send(data[-30:])
            read_answer(connection)


def fast_open(*_):
    """A request in the SYN."""
    for _ in each(OPTIONS.count("count")):
        with make_socket() as connection:
            connection.sendto(request_bytes(), socket.MSG_FASTOPEN, ("10.77.1.2", OPTIONS.count("port", 8000)))
            read_answer(connection)


# --- beginnings and endings ---

def tries(*_):
    """Only connects."""
    for _ in each(OPTIONS.count("count")):
        guarded(lambda: connect().close())


def crowd(*_):
    """Opens all at once, waits pause=S, closes."""
    connections = []
    for _ in range(OPTIONS.count("count")):
        connections.append(make_socket())
        connections[-1].setblocking(False)
        connections[-1].connect_ex((OPTIONS.get("server", "10.77.1.2"), OPTIONS.count("port", 8000)))
    wait(OPTIONS.number("pause"))


def scan(*_):
    """Connects to the ports first=N to last=N, each gap=S after the other."""
    connections = []
    for port in range(OPTIONS.count("first"), OPTIONS.count("last") + 1):
        connections.append(make_socket())
        connections[-1].setblocking(False)
        connections[-1].connect_ex((OPTIONS.get("server", "10.77.1.2"), port))
        wait(OPTIONS.number("gap"))
        if len(connections) > 20:
            connections.pop(0).close()


def flood(*_):
    """SYNs with wrong source addresses, rate=N each second."""
    server, begin = socket.inet_aton("10.77.1.2"), time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number in range(OPTIONS.count("count")):
            source = bytes([198, 18, random.randrange(256), random.randrange(1, 255)])
            segment = struct.pack("!HHIIBBHHH", random.randrange(1024, 65535), OPTIONS.count("port", 8000),
                                  random.getrandbits(32), 0, 5 << 4, 2, 1024, 0, 0)
            total = sum(struct.unpack("!16H", source + server + struct.pack("!HH", 6, len(segment)) + segment))
            total = (total >> 16) + (total & 0xFFFF)
            total = ~((total >> 16) + total) & 0xFFFF
            header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, random.getrandbits(16), 0, 64, 6, 0, source, server)
            raw.sendto(header + segment[:16] + struct.pack("!H", total) + segment[18:], ("10.77.1.2", 0))
            wait(max(0, begin + number / OPTIONS.number("rate") - time.monotonic()))


def half_close(*_):
    """Sends, closes its half, and waits for the end pause=S."""
    connections = []
    for _ in each(OPTIONS.count("count")):
        connections.append(connect())
        connections[-1].sendall(b"hello")
        connections[-1].shutdown(socket.SHUT_WR)
    wait(OPTIONS.number("pause"))


def to_end(*_):
    """Sends lines, closes its half, reads the answer."""
    for _ in each(OPTIONS.count("count")):
        with connect() as connection:
            connection.sendall(b"line\n" * 40)
            connection.shutdown(socket.SHUT_WR)
            receive_all(connection)


def never_close(*_):
    """Reads an answer to its end, and keeps the connection for pause=S."""
    connections = []
    for _ in each(OPTIONS.count("count")):
        connections.append(connect())
        connections[-1].sendall(request_bytes())
        receive_all(connections[-1])
    wait(OPTIONS.number("pause"))
    os._exit(0)  # nothing is closed before the end of the process


def health_check(*_):
    """Connects and resets, as load balancers do."""
    for _ in each(OPTIONS.count("count")):
        with connect() as connection:
            reset_on_close(connection)


def again_later(*_):
    """A request; after pause=S another one, on all connections, 0.2 s after one another."""
    def one():
        with connect() as connection:
            get(connection)
            wait(OPTIONS.number("pause"))
            get(connection)
    at_once(one, OPTIONS.count("count"), 0.2)


def opened():
    """`count` connections that have had a request each; then is the moment."""
    connections = [connect() for _ in range(OPTIONS.count("count"))]
    for connection in connections:
        if "keepalive" in OPTIONS:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for key, value in KEEPALIVE:
                connection.setsockopt(socket.IPPROTO_TCP, key, value)
        get(connection)
    mark()
    return connections


def interrupted(*_):
    """A request on all connections, the moment, and after pause=S another one."""
    threads = []
    connections = opened()
    wait(OPTIONS.number("pause"))
    for connection in connections:
        threads.append(threading.Thread(target=guarded, args=(lambda c=connection: get(c),)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def keeps(*_):
    """A request on all connections, the moment, and nothing but keep-alive probes for pause=S."""
    connections = opened()
    wait(OPTIONS.number("pause"))
    del connections


def closes(*_):
    """A request on all connections, the moment, and after two seconds closes them; stays for pause=S."""
    connections = opened()
    wait(2)
    for connection in connections:
        connection.close()
    wait(OPTIONS.number("pause"))


def pool(*_):
    """Idle connections with keep-alive probes, of which one has a request now and then, for pause=S."""
    connections, choice = opened(), random.Random(3)
    end = time.monotonic() + OPTIONS.number("pause")
    while time.monotonic() < end:
        get(choice.choice(connections))
        wait(0.4)


# --- other protocols ---

def lines(*commands):
    """The commands on each connection."""
    for _ in each(OPTIONS.count("count")):
        with connect(OPTIONS.count("port", 7000)) as connection, connection.makefile("rb") as answers:
            answers.readline()
            for command in commands:
                connection.sendall(command.encode() + b"\r\n")
                answers.readline()


def typing(*pauses):
    """A person types lines after pauses."""
    with connect(OPTIONS.count("port", 7000)) as connection, connection.makefile("rb") as answers:
        answers.readline()
        for pause in pauses:
            wait(float(pause))
            for letter in b"STAT now\r\n":
                connection.sendall(bytes([letter]))
                wait(0.11)
            answers.readline()


def sql_read(connection):
    """Messages up to the one that says that the server is ready."""
    data = b""
    while not data.endswith(b"Z\0\0\0\5I"):
        data += receive_some(connection)


def sql_queries(queries, pause=0.0, server=None, source=None):
    """A connection with queries."""
    with connect(5432, server, source) as connection:
        message = struct.pack("!I", 196608) + b"user\0shop\0database\0shop\0\0"
        connection.sendall(struct.pack("!I", len(message) + 4) + message)
        sql_read(connection)
        for text in queries:
            connection.sendall(b"Q" + struct.pack("!I", 5 + len(text)) + text.encode() + b"\0")
            sql_read(connection)
            wait(pause)
        connection.sendall(b"X\0\0\0\4")


def sql(*tables):
    """A query of each table on each connection."""
    for _ in each(OPTIONS.count("count")):
        sql_queries(f"select sum(price) from {table}" for table in tables)


def pushed(*texts):
    """Sends messages now and then, and reads those of the server."""
    with connect() as connection:
        threading.Thread(target=receive_all, args=(connection,), daemon=True).start()
        for text in texts:
            connection.sendall(text.encode())
            wait(2.1)
        wait(0.3)


def websocket(*_):
    """Upgrades, sends a message, reads to the end."""
    def one():
        with connect() as connection:
            connection.sendall(b"GET /ws HTTP/1.1\r\nHost: shop.example\r\n"
                               b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                               b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
            wait(0.4)
            connection.sendall(b"\x81\x85abcd" + bytes(x ^ y for x, y in zip(b"hello", b"abcda")))
            receive_all(connection)
    at_once(one, OPTIONS.count("count"), 0.3)


def datagrams(*_):
    """Datagrams of UDP to a port."""
    for number in each(OPTIONS.count("count")):
        with make_socket(socket.SOCK_DGRAM) as udp:
            udp.settimeout(0.2)
            udp.connect((OPTIONS.get("server", "10.77.1.2"), OPTIONS.count("port")))
            udp.send(b"<14>host app: line %d" % number)
            guarded(lambda: udp.recv(10))  # pylint: disable=cell-var-from-loop


def dns_query(name):
    """A query of DNS."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", random.randrange(65536), 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


def look_up(name, server=None, source=None):
    """A query over UDP, and its answer."""
    with make_socket(socket.SOCK_DGRAM, server, source) as udp:
        udp.settimeout(min(3, OPTIONS.number("patience", 3)))
        udp.connect((server or OPTIONS.get("server", "10.77.1.2"), 53))
        udp.send(dns_query(name))
        udp.recv(2048)


def names(*which):
    """Looks up the names, `count` times; with request=PORT a request after each."""
    for _ in each(OPTIONS.count("count")):
        for name in which:
            guarded(lambda: look_up(name))  # pylint: disable=cell-var-from-loop
            if "request" in OPTIONS:
                with connect(OPTIONS.count("request")) as connection:
                    get(connection)
            wait(0.05)


def dnstcp(*which):
    """Looks up the names over TCP."""
    for _ in each(OPTIONS.count("count")):
        with connect(53) as connection:
            for name in which:
                query = dns_query(name)
                connection.sendall(struct.pack("!H", len(query)) + query)
                receive_some(connection)


# --- healthy traffic ---

def healthy_web(choice, server, source):
    """A few requests of HTTP."""
    with connect(choice.choice((80, 8080)), server, source) as connection:
        for _ in range(choice.randrange(1, 6)):
            get(connection, choice.choice(("/", "/cart", "/img/logo.png", "/api/items")), "www.example")
            wait(choice.random() * 0.2)


def healthy_file(choice, server, source):
    """A file of a few segments."""
    with connect(80, server, source) as connection:
        get(connection, f"/file/{choice.choice((3000, 6000))}", "static.example")


def healthy_sql(choice, server, source):
    """A few queries."""
    sql_queries([f"select * from items where id = {choice.randrange(999)}" for _ in range(choice.randrange(1, 8))],
                choice.random() * 0.15, server, source)


def healthy_lines(choice, server, source):
    """A few commands."""
    with connect(7000, server, source) as connection, connection.makefile("rb") as answers:
        answers.readline()
        for _ in range(choice.randrange(1, 6)):
            connection.sendall(choice.choice((b"LIST a\r\n", b"STAT\r\n", b"GET 42\r\n")))
            answers.readline()
            wait(choice.random() * 0.2)
        connection.sendall(b"QUIT\r\n")
        answers.readline()


def healthy_name(choice, server, source):
    """A name."""
    look_up(choice.choice(("www.example", "static.example", "mail.example")), server, source)


def healthy(*_):
    """`connections` of all kinds in seconds=S; versions=4, 6 or 46 of IP."""
    kinds = (healthy_web, healthy_sql, healthy_lines, healthy_web, healthy_file, healthy_name)
    count, versions = OPTIONS.count("connections"), OPTIONS["versions"]

    def one(number):
        choice = random.Random(number)
        six = choice.choice(versions) == "6"
        source, server = choice.randrange(8, 20), choice.choice((2, 3))
        guarded(lambda: kinds[number % len(kinds)](choice, f"fd77:2::{server}" if six else f"10.77.1.{server}",
                                                   f"fd77:1::{source:x}" if six else f"10.77.0.{source}"))
    threads = []
    for number in range(count):
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
        wait(OPTIONS.number("seconds") / count)
    for thread in threads:
        thread.join()


def main():
    """The command line."""
    words = [word for word in sys.argv[2:] if "=" not in word]
    OPTIONS.update(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
    globals()[sys.argv[1]](*words)


if __name__ == "__main__":
    main()
