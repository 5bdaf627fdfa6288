#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tshark.sh: retransmissions and connection records of all captures of the source tree.
exec sh "$(dirname "$0")/tshark.sh" whole
