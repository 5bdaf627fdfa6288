#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# every_output_sanitizers.sh with every capture.
exec sh "$(dirname "$0")/every_output.sh" split all
