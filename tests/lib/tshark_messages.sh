# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154
#
# For the tests that compare the messages of an application protocol with tshark's, sourced behind tap.sh.

have python3 tshark || skip_all "python3 or tshark is not installed"

# check_messages NAME PROVIDER CAPTURE...
check_messages() {
	check_messages_name=$1 provider=$2
	shift 2
	check "$check_messages_name" python3 "$top/tests/apps/$provider/${provider}_messages.py" "$netobsd" \
		--explained "$top/tests/reference/tshark_$provider.tsv" "$@"
	note "$(tail -n 1 "$tmp/check")"
}

# compare_messages PROVIDER NAME...: those captures of tests/captures, and the further captures of $NETOBS_SHARED
compare_messages() {
	# No blanks in these names.
	# shellcheck disable=SC2046
	check_messages "shipped captures: tshark differs only where the difference is explained" "$1" \
		$(shift && printf "$top/tests/captures/%s.pcap\n" "$@")
	if [ -d "$shared/captures" ]; then
		# shellcheck disable=SC2046
		check_messages "further captures: likewise" "$1" $(find "$shared/captures" -name '*.pcap' -o -name '*.pcapng' | sort)
	else
		skip "further captures: likewise" "\$NETOBS_SHARED has no captures"
	fi
}
