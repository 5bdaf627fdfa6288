# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of netobs-connfs, sourced after running.sh: what it needs, the mount point $root, and many streams.

connfs=$build/netobs-connfs root=$tmp/connfs
[ -x "$connfs" ] || skip_all "netobs-connfs is not built: no libfuse3"
have fusermount3 || skip_all "fusermount3 is not installed"
[ -c /dev/fuse ] || skip_all "no /dev/fuse here"
at_end "fusermount3 -u -z '$root' 2>/dev/null"
mkdir "$root"

# make_streams: ten thousand of UDP
make_streams() {
	traffic ports first 10001 15000
	traffic ports second 10001 15000
	wait_for streams_listed
}

streams_listed() {
	[ "$(ctl connections -o cid -P 'protostr == "UDP"' | wc -l)" -ge 10000 ]
}
