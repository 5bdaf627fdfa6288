#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares every TLS hello, and every alert in clear, with tshark's.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/tshark_messages.sh
. "$(dirname "$0")/../lib/tshark_messages.sh"

compare_messages tls tls home-network
tap_done
