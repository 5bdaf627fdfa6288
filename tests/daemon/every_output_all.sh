#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# every_output.sh with every capture.
exec sh "$(dirname "$0")/every_output.sh" all
