#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""netobsd -r FILE --print=tls-established --format json | tls_established.py NAME: version, whether it is resumed, ALPN and
whether the times are plausible, of the connection with this server name.
"""
import json
import sys

for line in sys.stdin:
    tls = json.loads(line)["args"][1]
    if tls["tls_sni"] == sys.argv[1]:
        plausible = tls["tls_handshake_us"] >= tls["tls_hello_us"] >= 0
        print(tls["tls_versionstr"], tls["tls_resumed"], tls["tls_alpn"], plausible)
