#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tshark.sh: application messages, retransmissions and connection records of a few captures.
exec sh "$(dirname "$0")/tshark.sh" messages few
