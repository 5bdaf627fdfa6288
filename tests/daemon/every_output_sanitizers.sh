#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of the source tree with all outputs at once, and divided: sanitizers find nothing.
exec sh "$(dirname "$0")/every_output.sh" split "$@"
