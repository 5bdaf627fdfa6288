# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The scripts and the tests of the source tree, and the lists of the room.mk files that name the tests.  The working
# directory is the source tree.

# shell_scripts: every file of the shell, those that others source and completions among them
shell_scripts() {
	find bootstrap .ci bench conf debian page pictures scripts tests -name captures -prune -o -type f -print |
		while read -r shell_script; do
			shell_line=''
			read -r shell_line <"$shell_script"
			case $shell_script:$shell_line in
			*.log:* | *.trs:*) ;;
			*.sh:* | *.bash-completion:* | *:'#!'*[/\ ]sh | *:'#!'*[/\ ]bash) echo "$shell_script" ;;
			esac
		done | sort
}

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
