#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Engines for the tests of conf/engines, in a directory: Debian's packages, which are extracted and not installed, so that
# no service starts and nothing of the machine changes, and DuckDB from npm.  What the machine has is left out.
#
#	fetch.sh [--all] DIRECTORY
#
# With --all also the ClickHouse of npm, chdb, which is large: 546 MB.
# DIRECTORY/bin gets a command for each program.  A second run with the same list does nothing.  Needs no root, but a
# network and the lists of apt-get update; npm for DuckDB.
set -u

here=$(cd "$(dirname "$0")" && pwd)
engines=duckdb
if [ "${1-}" = --all ]; then
	engines='duckdb chdb'
	shift
fi
cache=${1:?usage: fetch.sh [--all] DIRECTORY}
mkdir -p "$cache" || exit 1
cache=$(cd "$cache" && pwd)
root=$cache/root
commands=$cache/bin
export LC_ALL=C

say() {
	printf '%s\n' "engines: $*"
}

# wanted: the packages of the list that are not installed.  Another release of Debian may lack one.
wanted() {
	sed -n 's/^\([a-z0-9][a-z0-9.+-]*\):.*/\1/p' "$here/packages" | while read -r package; do
		if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ]; then
			continue
		elif apt-cache show "$package" >/dev/null 2>&1; then
			echo "$package"
		else
			say "apt-cache knows no package $package" >&2
		fi
	done
}

# with_dependencies PACKAGE...: the packages that apt-get would install
with_dependencies() {
	apt-get install -s --no-install-recommends "$@" | sed -n 's/^Inst \([^ ]*\) .*/\1/p'
}

# extract PACKAGE...: into $root
extract() {
	rm -rf "$root" "$commands" "$cache/debs"
	mkdir -p "$root" "$commands" "$cache/debs" || return 1
	# The names have no blanks.
	# shellcheck disable=SC2046
	(cd "$cache/debs" && apt-get download -q -o APT::Sandbox::User="$(id -un)" $(with_dependencies "$@")) || return 1
	for deb in "$cache/debs"/*.deb; do
		dpkg -x "$deb" "$root" || return 1
	done
	rm -rf "$cache/debs"
}

# write_commands: for each program of the list that was extracted, a command that starts it with the libraries of $root
write_commands() {
	libraries=$(find "$root/usr/lib" "$root/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | grep -E '/lib/[^/]*-linux-[^/]*$' |
		sort -u | paste -s -d : -)
	sed -n 's/^[a-z0-9][a-z0-9.+-]*:\([^#]*\).*/\1/p' "$here/packages" | tr -s ' ' '\n' | grep . | while read -r command; do
		program=$(find "$root/usr/lib/postgresql" "$root/usr/bin" "$root/usr/sbin" -name "$command" 2>/dev/null | head -n 1)
		[ -n "$program" ] || continue
		options=''
		[ "$command" != rsyslogd ] || options="-M \"$(dirname "$(find "$root" -name imfile.so)")\""
		printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" %s "$@"\n' "$libraries" "$program" "$options" >"$commands/$command"
		chmod 755 "$commands/$command"
	done
}

packages=$(wanted | paste -s -d ' ' -)
if [ "$(cat "$cache/extracted" 2>/dev/null)" != "$packages" ]; then
	rm -f "$cache/extracted"
	say "extracting ${packages:-nothing}"
	# shellcheck disable=SC2086
	[ -z "$packages" ] || extract $packages || exit 1
	[ -z "$packages" ] || write_commands
	printf '%s\n' "$packages" >"$cache/extracted"
fi
# wanted_modules: those of the engines, except what is for one kind of processor
wanted_modules() {
	awk -v engines=" $engines " '/^[^#]/ && index(engines, " " $1 " ") && $2 !~ /-linux-/ { print $2 }' "$here/modules"
}

# missing_modules: the modules of which the cache does not have this version
missing_modules() {
	wanted_modules | while read -r module; do
		grep -qsF "\"version\": \"${module##*@}\"" "$cache/npm/node_modules/${module%@*}/package.json" || printf '%s ' "$module"
	done
}

# unknown_modules: what npm has installed and the list has not, or not with this content; npm has checked the content
unknown_modules() {
	sed -n -e 's|^ *"node_modules/\(.*\)": {$|name \1|p' -e 's/^ *"version": "\(.*\)",*$/version \1/p' \
		-e 's/^ *"integrity": "\(.*\)",*$/integrity \1/p' "$cache/npm/node_modules/.package-lock.json" |
		awk 'NR == FNR { known[$2 " " $3]; next }
			$1 == "name" { print_unknown(); module = $2; count++ }
			$1 == "version" { module = module "@" $2 }
			$1 == "integrity" && (module " " $2) in known { module = "" }
			END { print_unknown(); if (count == 0) print "nothing" }
			function print_unknown() { if (module != "") print module }' "$here/modules" -
}

missing=$(missing_modules)
if [ -n "$missing" ]; then
	command -v npm >/dev/null 2>&1 || {
		say "npm is not installed: without $missing"
		exit 0
	}
	say "installing $missing"
	# The names have no blanks.  Scripts of modules do not run.
	# shellcheck disable=SC2086,SC2046
	npm install --prefix "$cache/npm" --no-audit --no-fund --ignore-scripts --loglevel=error $(wanted_modules) || exit 1
	unknown=$(unknown_modules)
	if [ -n "$unknown" ]; then
		rm -rf "$cache/npm"
		# shellcheck disable=SC2086
		say "npm has installed what tests/engines/modules does not list, or with other content:" $unknown >&2
		exit 1
	fi
fi
