# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034
# The top folders with sources of the programs, those of netobsd itself first.
house="base config host owner confine capture observe daemon"
folders="$house usdt engine dissect flow probes formulas records flight apps page tools"
