#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tshark.sh over the captures of $NETOBS_SHARED that the source tree lacks.
exec sh "$(dirname "$0")/tshark.sh" shared
