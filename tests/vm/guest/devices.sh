#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of devices (tests/live/stacks.sh) with all kinds that Debian's kernel has, and a VLAN whose tags e1000e cards
# insert and remove.
modprobe -a 8021q bonding geneve ifb ip6_gre ip6_tunnel ip_gre ipip ipvlan macvlan sit team vxlan wireguard
export STACKS_REQUIRED=1 STACKS_NICS="eth2 eth3"
exec sh "$(dirname "$0")/../../live/stacks.sh"
