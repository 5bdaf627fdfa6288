#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends a request over HTTP; prints the status and writes the body to a file.

usage: request.py ADDRESS:PORT FILE PATH [METHOD [HEADER]...]
"""
import http.client
import sys

address, path_of_body, path = sys.argv[1:4]
method, headers = sys.argv[4] if len(sys.argv) > 4 else "GET", sys.argv[5:]
connection = http.client.HTTPConnection(address, timeout=20)
connection.putrequest(method, path, skip_host=any(header.lower().startswith("host:") for header in headers))
for header in headers:
    connection.putheader(*header.split(": ", 1))
connection.endheaders()
answer = connection.getresponse()
with open(path_of_body, "wb") as file:
    file.write(answer.read())
print(answer.status)
