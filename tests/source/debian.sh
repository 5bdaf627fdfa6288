#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# debian/: its version, source format and licences agree with the tree, its autopkgtests pass with the built program, and
# its maintainer scripts print nothing and leave nothing of the package.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" || exit 99
[ -d debian ] || skip_all "no debian/ here"

# ------------------------------------------------------------------------------------------------------------ source

is "the upstream version is that of configure.ac" "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)" \
	"$(sed -n 's/^AC_INIT(\[netobs\], \[\([^]]*\)\].*/\1/p' configure.ac)"
is "the source format" "$(cat debian/source/format)" "3.0 (quilt)"
is "the watch file" "$(grep -v '^#' debian/watch | head -n 1)" "version=4"
# printing_scripts: maintainer scripts that print
printing_scripts() {
	for script in debian/*preinst debian/*postinst debian/*prerm debian/*postrm; do
		if [ -e "$script" ] && sed 's/^[[:blank:]]*#.*//' "$script" | grep -qwE 'echo|printf|cat|db_[a-z]+'; then
			echo "$script"
		fi
	done
}
is "no maintainer script prints" "$(printing_scripts)" ""

# ------------------------------------------------------------------------------------------------------------- purge

# The links of the unit files lead nowhere, as after the removal of the package; $tmp/unit stands for one that exists.
root=$tmp/root links=$tmp/root/etc/systemd/system
: >"$tmp/unit"
for directory in netobs.service.wants netobs.service.requires multi-user.target.wants multi-user.target.requires \
	netobs-write@drop-in.service.d; do
	mkdir -p "$links/$directory" || exit 99
done
mkdir -p "$root/run/systemd/system/netobs.service.wants" "$root/var/lib/netobs/write/resets" "$root/var/log/netobs" || exit 99
link_unit() {
	ln -s "$1" "$2" || exit 99
}
absent=$tmp/absent/netobs-write@.service
link_unit "$absent" "$links/netobs.service.wants/netobs-write@resets.service"
link_unit "$absent" "$links/netobs.service.wants/netobs-write@two words.service"
link_unit "$absent" "$links/netobs.service.requires/netobs-write@large.service"
link_unit "$absent" "$links/multi-user.target.requires/netobs-write@large.service"
link_unit "$absent" "$root/run/systemd/system/netobs.service.wants/netobs-write@resets.service"
link_unit "$tmp/absent/netobs.service" "$links/multi-user.target.wants/netobs.service"
link_unit "$tmp/absent/other.service" "$links/multi-user.target.wants/other.service"
link_unit "$tmp/unit" "$links/netobs.service.wants/netobs-write@own.service"
link_unit /dev/null "$links/netobs-write@masked.service"
: >"$links/netobs-write@drop-in.service.d/override.conf"
: >"$root/var/lib/netobs/write/resets/1.pcapng"
: >"$root/var/log/netobs/records"
(cd "$root" && find . ! -type d | sort) >"$tmp/before"
check "remove" env DPKG_ROOT="$root" sh debian/netobs.postrm remove
is "remove leaves all" "$(cd "$root" && find . ! -type d | sort)" "$(cat "$tmp/before")"
check "purge" env DPKG_ROOT="$root" sh debian/netobs.postrm purge
is "purge leaves what is the administrator's" "$(cd "$root" && find . ! -type d | sort)" \
	"./etc/systemd/system/multi-user.target.wants/other.service
./etc/systemd/system/netobs-write@drop-in.service.d/override.conf
./etc/systemd/system/netobs-write@masked.service
./etc/systemd/system/netobs.service.wants/netobs-write@own.service"
is "purge leaves no empty directory" "$(cd "$root" && find ./*/systemd ./*/*/netobs -type d -empty 2>/dev/null | grep netobs)" ""
check "a second purge" env DPKG_ROOT="$root" sh debian/netobs.postrm purge
rm -r "$root"
check "purge of a system without links" env DPKG_ROOT="$root" sh debian/netobs.postrm purge

# ---------------------------------------------------------------------------------------------------------- licences

# licence_stated FILE: by debian/copyright, where the last matching pattern counts
licence_stated() {
	licence_stated=
	while read -r licence_pattern licence_name; do
		# An unquoted pattern: it must match.
		# shellcheck disable=SC2254
		case $1 in
		$licence_pattern) licence_stated=$licence_name ;;
		esac
	done <"$tmp/patterns"
	echo "$licence_stated"
}

# licence_known FILE: by the tables of the captures' README
licence_known() {
	awk -F ' *[|] *' -v file="${1#tests/captures/}" '
		index(file, "/") > 0 { origin = substr(file, 1, index(file, "/") - 1) }
		$2 == file && origin == "" { split($3, part, "[/:]"); origin = part[1] }
		$2 == origin && $2 != "" { licence = $4 }
		END { print origin == "own" ? "BSD-2-Clause" : licence }' tests/captures/README.md
}

# "PATTERN LICENCE" for each pattern of a Files field
awk '/^[A-Z]/ { in_files = ($1 == "Files:") }
	/^License:/ { for (i = 0; i < count; i++) print pattern[i], $2; count = 0 }
	in_files { sub(/^Files:/, ""); for (i = 1; i <= NF; i++) pattern[count++] = $i }' debian/copyright >"$tmp/patterns"
is "debian/copyright covers all files" "$(licence_stated configure.ac)" BSD-2-Clause
find tests/captures -type f ! -name '*.md' | sort | while read -r file; do
	stated=$(licence_stated "$file") known=$(licence_known "$file")
	[ "$stated" = "$known" ] || echo "$file: debian/copyright has $stated, the README has ${known:-nothing}"
done >"$tmp/licences"
is "debian/copyright has the licence of every capture" "$(cat "$tmp/licences")" ""
cut -d ' ' -f 2 "$tmp/patterns" | sort -u | while read -r licence; do
	[ "$(grep -A1 "^License: $licence\$" debian/copyright | grep -c '^ ')" -eq 1 ] || echo "$licence"
done >"$tmp/licences"
is "debian/copyright has the text of each licence once" "$(cat "$tmp/licences")" ""

# ------------------------------------------------------------------------------------------------------- autopkgtests

named=$(awk -F '[:, ]+' '$1 == "Tests" { for (i = 2; i <= NF; i++) print $i }' debian/tests/control | sort)
is "debian/tests/control names every script" "$named" "$(find debian/tests -type f ! -name control -printf '%f\n' | sort)"
for name in $named; do
	check "debian/tests/$name is executable" test -x "debian/tests/$name"
done

if [ ! -x "$netobsd" ]; then
	skip "replay" "netobsd is not built"
	skip "attach" "netobsd is not built"
	tap_done
fi
NETOBSD=$(private_netobsd) || exit 99
NETOBS_INCLUDE=$top/probes
export NETOBSD NETOBS_INCLUDE
check "replay" debian/tests/replay
refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "attach" "$refused"
else
	check "attach" debian/tests/attach
fi

tap_done
