#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/source/shellcheck.sh with the files that scripts source, and without stamps.
exec sh "$(dirname "$0")/shellcheck.sh" whole
