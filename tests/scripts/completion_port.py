#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the completion of `netobs timeline PORT` offers a port on which this process listens.

usage: completion_port.py COMPLETION NETOBS
"""
import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", 0)) as server:
    port = str(server.getsockname()[1])
    words = f'. "$1"; COMP_WORDS=("$2" timeline {port}) COMP_CWORD=2; _netobs; echo "${{COMPREPLY[*]}}"'
    offered = subprocess.run(["bash", "-c", words, "bash", *sys.argv[1:]], capture_output=True, text=True, check=True).stdout
    print("wanted", port, "got", offered)
    sys.exit(port not in offered.split())
