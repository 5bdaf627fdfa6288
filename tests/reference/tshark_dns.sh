#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares every DNS message with tshark's.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/tshark_messages.sh
. "$(dirname "$0")/../lib/tshark_messages.sh"

compare_messages dns dns-tcp dns home-network
tap_done
