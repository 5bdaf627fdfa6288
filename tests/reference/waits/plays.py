# SPDX-License-Identifier: BSD-2-Clause
"""What both ends of a connection do, by kinds; the numbers in it are of a generator with a fixed seed.

Words of a play: sN sends N bytes; rN receives N, rN:STEP:MS slowly; wMS waits; dN:TIMES:MS sends N bytes so many times,
with a wait after each; f closes one direction; e reads until the peer closes; x: the close is a RST; bN, kN are the sizes
of the buffers for received and for sent data.
"""
import random

APART_MS = 60  # between two connections


class Play:
    """A connection: the words of both ends, the port of the server, and the congestion control of both."""

    def __init__(self, kind, client, server, port):
        self.kind, self.client, self.server, self.port = kind, client.split(), server.split(), port
        self.congestion = (b"cubic", b"bbr")[port // len(KINDS) % 2]


def bulk_down(chance):
    """The server sends as much as the path takes."""
    size = chance.randrange(100_000, 1_500_000)
    return f"s100 r{size}", f"r100 s{size} e"


def bulk_up(chance):
    """The client does."""
    size = chance.randrange(100_000, 1_500_000)
    return f"s{size} e", f"r{size}"


def exchanges(chance):
    """Requests, answers and pauses of both ends."""
    client, server = [], []
    for _ in range(chance.randrange(1, 7)):
        asked, answered = chance.randrange(20, 1400), chance.choice((200, 1200, 1200, 9000, 40000))
        client.append(f"w{chance.choice((0, 0, 1, 20, 100, 300))} s{asked} r{answered}")
        server.append(f"r{asked} w{chance.choice((0, 0, 1, 5, 20, 100, 400))} s{answered}")
    return " ".join(client) + f" w{chance.choice((0, 0, 150))}", " ".join(server) + " e"


def uploads(chance):
    """Large requests, short answers."""
    asked, wait = chance.randrange(20_000, 200_000), chance.choice((0, 30, 250))
    return f"s{asked} r100 s{asked} r100", f"r{asked} w{wait} s100 r{asked} w{wait} s100 e"


def chatty(chance):
    """Many short exchanges."""
    count = chance.randrange(10, 30)
    return "s40 r40 " * count, "r40 s40 " * count + "e"


def slow_reader(chance):
    """The client reads slowly."""
    size, step = chance.randrange(150_000, 500_000), chance.choice((10_000, 20_000))
    pause = chance.choice((30, 50))
    return f"b{chance.choice((16_000, 30_000))} s100 r{size}:{step}:{pause}", f"r100 s{size} e"


def slow_server(chance):
    """The server reads slowly."""
    size, step = chance.randrange(150_000, 500_000), chance.choice((10_000, 20_000))
    return f"s{size} r100", f"b{chance.choice((16_000, 30_000))} r{size}:{step}:{chance.choice((30, 50))} s100 e"


def stalled_reader(chance):
    """The client stops reading for a while."""
    size, wait = chance.randrange(200_000, 400_000), chance.choice((400, 900, 1500))
    return f"b30000 s100 r50000 w{wait} r{size - 50_000}", f"r100 s{size} e"


def stalled_server(chance):
    """The server does."""
    size, wait = chance.randrange(200_000, 400_000), chance.choice((400, 900, 1500))
    return f"s{size} r100", f"b30000 r50000 w{wait} r{size - 50_000} s100 e"


def dribble(chance):
    """The server has its answer piece by piece."""
    size, times, pause = chance.choice((200, 1400, 5000)), chance.randrange(4, 20), chance.choice((30, 100))
    return f"s100 r{size * times}", f"r100 d{size}:{times}:{pause} e"


def dribble_up(chance):
    """The client sends its request piece by piece."""
    size, times, pause = chance.choice((200, 1400, 5000)), chance.randrange(4, 20), chance.choice((30, 100))
    return f"d{size}:{times}:{pause} r100", f"r{size * times} s100 e"


def late_close(chance):
    """The client closes one direction when it has its answer, the server the other one after a while."""
    wait = chance.choice((50, 300, 700))
    return "s100 r500 f e", f"r100 s500 e w{wait}"


def half_close(chance):
    """The client closes one direction, and is answered after that."""
    wait = chance.choice((50, 300, 700))
    return "s100 f r3000 e", f"r100 w{wait} s3000"


def greeting(chance):
    """The server speaks first."""
    wait = chance.choice((0, 50, 400))
    return "r80 s30 r80 w30 s30 r80", f"w{wait} s80 r30 s80 r30 w20 s80 e"


def aborted(chance):
    """The client reads part of an answer, and resets the connection."""
    return f"x s100 r5000 w{chance.choice((0, 100, 400))}", "r100 w40 s5000 w1500"


def small_buffer(chance):
    """The sender's buffer is smaller than the path takes."""
    size = chance.randrange(100_000, 400_000)
    return f"s100 r{size}", f"k8000 r100 s{size} e"


KINDS = (bulk_down, bulk_up, exchanges, exchanges, exchanges, uploads, chatty, slow_reader, slow_server, stalled_reader,
         stalled_server, dribble, dribble_up, late_close, half_close, greeting, aborted, small_buffer)
ROUNDS = 4


def all_plays():
    """By name."""
    chance, found = random.Random(1), {}
    for turn in range(ROUNDS):
        for number, kind in enumerate(KINDS):
            client, server = kind(chance)
            port = 10000 + turn * len(KINDS) + number
            found[f"{kind.__name__}-{port - 10000}"] = Play(kind.__name__, client, server, port)
    return found


PLAYS = all_plays()
