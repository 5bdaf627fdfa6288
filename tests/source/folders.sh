# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034
# The top folders with sources of the programs, in the order of use; those of netobsd itself last.
house="base config host owner confine capture observe daemon"
folders="usdt engine dissect flow probes formulas records recorder apps paths $house page tools"
