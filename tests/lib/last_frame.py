#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends a last frame on the loopback interface of tests/lib/loopback.sh."""
import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.sendto(b"the last frame", ("192.0.2.1", 9))
