# SPDX-License-Identifier: BSD-2-Clause
# From which subnets is TCP retransmitted?  By the sender's /24 of IPv4 or /64 of IPv6.
# kcat -b BROKER -C -t netobs -e -q | jq -s -r -f retransmissions.jq
def groups: split(":") | map(select(. != ""));
def subnet:
	if contains(":") then
		(split("::") | map(groups)) as $part
		| ([0, 8 - ($part | map(length) | add)] | max) as $zeros
		| ($part[0] + [range($zeros) | "0"] + ($part[1] // [])) | .[:4] | join(":") + "::/64"
	else split(".") | .[:3] | join(".") + ".0/24" end;
map(select(.cr_protocol == 6 and .cr_reason != "open")
	| {host, subnet: (.cr_client | subnet), segments: .cr_client_segments, resent: .cr_client_resent},
	  {host, subnet: (.cr_server | subnet), segments: .cr_server_segments, resent: .cr_server_resent})
| group_by([.host, .subnet])
| map({host: .[0].host, subnet: .[0].subnet, segments: map(.segments) | add, resent: map(.resent) | add})
| map(select(.resent > 0))
| sort_by([-.resent, .host, .subnet])
| .[:20][]
| [.host, .subnet, .segments, .resent, (10000 * .resent / .segments | round / 100)]
| @tsv
