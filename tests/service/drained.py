#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the pipe that is standard input is empty."""
import fcntl
import struct
import sys
import termios

sys.exit(struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))[0] > 0)
