# shellcheck shell=sh disable=SC2154 # vm is that of the script
# SPDX-License-Identifier: BSD-2-Clause
#
# Reads tests/vm/guests: source it with $vm, the directory of both, set.

# guest_lines GUEST: what the guest has: the lines of [all] and of its own section, without comments
guest_lines() {
	awk -v guest="$1" '
		/^\[/ { section = substr($0, 2, length($0) - 2); next }
		section != "all" && section != guest || /^#/ || /^$/ { next }
		{ print }' "$vm/guests"
}

# guest_exists GUEST: whether there is a section
guest_exists() {
	[ "$1" != all ] && grep -qxF "[$1]" "$vm/guests"
}

# guest_setting GUEST NAME: the value of a setting, or nothing
guest_setting() {
	guest_lines "$1" | sed -n "s/^$2 = //p"
}

# guest_packages GUEST: the packages, with commas between them
guest_packages() {
	guest_lines "$1" | sed -n 's/^\([a-z0-9][a-z0-9.+/-]*\):.*/\1/p' | paste -s -d , -
}

# guest_key GUEST: identifies the image that the guest needs now
guest_key() {
	{ cat "$vm/image.sh" && guest_lines "$1"; } | sha256sum | cut -c 1-16
}

# guest_of FILE: the guest of a script, which its line "# Guest: NAME" names
guest_of() {
	sed -n 's/^# Guest: //p' "$1" | grep . || echo debian12
}
