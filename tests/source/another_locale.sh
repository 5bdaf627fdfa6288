# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause

# first_in_order: a, or B in the locale C
first_in_order() {
	printf '%s\n' a B | sort | head -n 1
}

# another_locale: sets LC_ALL, and LOCPATH if needed, to a locale with another order of names than the locale C of tests;
# makes it if this machine lacks it.  Fails if it cannot, without the package locales.
another_locale() {
	LC_ALL=$(locale -a | grep -iE '^(de|fr|es|it|tr|sv|cs|pl|ru)_.*utf-?8$' | head -n 1)
	if [ -z "$LC_ALL" ]; then
		mkdir -p "${tmp:?}/locales"
		localedef -i tr_TR -f UTF-8 "$tmp/locales/tr_TR.UTF-8" || {
			LC_ALL=C.UTF-8
			return 1
		}
		export LOCPATH="$tmp/locales"
		LC_ALL=tr_TR.UTF-8
	fi
	export LC_ALL
	[ "$(first_in_order)" = a ]
}
