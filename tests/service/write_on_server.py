#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A control socket for the tests of netobsctl write --on, which serves a feed and captures as netobsd does, or as it must not.

    write_on_server.py SOCKET LOG

Reads commands, one a line, and answers "done" to each; the requests that it receives are appended to LOG:

    wait          until another client reads the feed
    fire NAME CID TS      a line of the feed
    storm COUNT   COUNT firings of connections of their own
    raw TEXT      these bytes for the feed, with Python's escapes
    size BYTES    the captures from now on have this size
    memory BYTES  of the flight memory
    reply WORD    from now on: good; hold (stops in the middle, until the next command "reply"), error (the first line),
                  forbid (the first line, to a client that may not write captures), broken (an error in the middle),
                  cut (closes the connection in the middle)
    end           ends the feed as netobsd does
    die           closes the feed
"""
import json
import socket
import struct
import sys
import threading


class Server:
    def __init__(self, path, log):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.log_file = open(log, "a", encoding="ascii", buffering=1)
        self.changed = threading.Condition()
        self.feed, self.waited = None, True
        self.size, self.mode, self.memory = 1000, "good", 1048576

    def log(self, text):
        self.log_file.write(text + "\n")

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        request = b""
        while not request.endswith(b"\n"):
            request += client.recv(4096) or b"\n"
        self.log(request.decode("ascii").strip())
        if request.startswith(b"stream "):
            client.settimeout(60)
            with self.changed:
                client.sendall(b"ok\n")
                self.feed, self.waited = client, False
                self.changed.notify_all()
            return
        if request.startswith(b"status\n"):
            client.sendall(b'ok\n{"flight_memory":%d,"flight_frames":0}\n' % self.memory)
            client.recv(1)  # what it sends when it expects the end: unread, it would reset the connection
            client.close()
            return
        try:
            self.write(client, request.decode("ascii").split())
        except OSError:
            self.log("the client has closed the connection")
        client.close()

    def write(self, client, words):
        cid = [word for word in words if word.startswith("--cid=")][0].partition("=")[2]
        with self.changed:
            size, mode = self.size, self.mode
        if mode == "error":
            client.sendall(b"error the flight memory is off\n")
            return
        if mode == "forbid":
            client.sendall(b"denied only root and the user that netobsd runs as may write captures, "
                           b"which contain the traffic of all users\n")
            return
        client.sendall(b"ok\n")
        data = (f"cid {cid}\n".encode() * size)[:size]
        for at in range(0, size, 60000):
            if at > 0 or size < 60000:
                if mode == "cut":
                    return
                if mode == "broken":
                    client.sendall(b"\xff\xff\xff\xffout of memory\n")
                    return
            part = data[at:at + 60000]
            client.sendall(struct.pack("!I", len(part)) + part[:-1])
            if mode == "hold":
                self.log("holds")
                with self.changed:
                    while self.mode == "hold":
                        self.changed.wait()
            client.sendall(part[-1:])
        client.sendall(struct.pack("!I", 0) + f'{{"frames":{size // 100},"bytes":{size},"lost":0,"cut":false}}\n'.encode())

    def run(self, line):
        word, _, rest = line.partition(" ")
        if word == "wait":
            with self.changed:
                if not self.changed.wait_for(lambda: not self.waited, 60):
                    return "nobody reads the feed"
                self.waited = True
        elif word == "fire":
            probe, cid, ts = (value if value != "-" else None for value in rest.split(" "))
            line = {"probe": probe, "cid": cid and int(cid), "ts": ts and int(ts)}
            self.feed.sendall(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        elif word == "storm":
            self.feed.sendall(b"".join(b'{"probe":"tcp-connect-refused","cid":%d,"ts":%d}\n' % (100001 + 2 * i, 1700000000000000000 + i)
                                       for i in range(int(rest))))
        elif word == "raw":
            self.feed.sendall(rest.encode("ascii").decode("unicode_escape").encode("latin-1"))
        elif word == "size":
            self.size = int(rest)
        elif word == "memory":
            self.memory = int(rest)
        elif word == "reply":
            with self.changed:
                self.mode = rest
                self.changed.notify_all()
        elif word == "end":
            self.feed.sendall(b"\n")
        if word in ("end", "die"):
            self.feed.close()
        return "done"


def main():
    server = Server(sys.argv[1], sys.argv[2])
    threading.Thread(target=server.accept, daemon=True).start()
    for line in sys.stdin:
        try:
            answer = server.run(line.rstrip("\n"))
        except OSError as error:  # the client does not read the feed any more
            answer = error.strerror
        print(answer, flush=True)


main()
