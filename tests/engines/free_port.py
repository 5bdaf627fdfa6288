#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints a loopback port that was free a moment ago.  Ports above 32767 are for connections of other programs."""
import random
import socket

while True:
    port = random.randrange(20000, 32767)
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break
