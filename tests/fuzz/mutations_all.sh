#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Other damaged captures at each run, with those of $NETOBS_SHARED (mutations.sh).
exec sh "$(dirname "$0")/mutations.sh" all
