# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of the source tree, and the lists of the room.mk files that name them.  The working directory is the source
# tree.

# test_scripts: all shell tests, which source tap.sh or run another test
test_scripts() {
	find tests -mindepth 2 -name '*.sh' -exec grep -lE 'lib/tap\.sh"$|^exec sh ' {} + | sort
}

# listed VARIABLE...: the tests that the room.mk files add to these lists, each of its own room
listed() {
	find tests -name room.mk -exec awk -v variables=" $* " '
		FNR == 1 { room = FILENAME; sub(/\/room\.mk$/, "", room) }
		$2 == "+=" || $2 == "=" { inside = index(variables, " " $1 " ") }
		inside { for (i = 1; i <= NF; i++) if (sub(/^%D%/, room, $i)) print $i }
		!/\\$/ { inside = 0 }' {} + | sort
}
