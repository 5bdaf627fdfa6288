# SPDX-License-Identifier: BSD-2-Clause
# What did two hosts capture of the same connection?  Segments that only one of them has were lost between them.
# cr_uid is that of both hosts if both captured the client's SYN.  Other connections, and UDP, are the same if they began
# within a minute by the clocks of the two hosts.
# kcat -b BROKER -C -t netobs -e -q | jq -s -r -f two-hosts.jq
def abs: if . < 0 then -. else . end;
def without_syn: (.cr_client_flags / 2 | floor) % 2 == 0;
map(select(.cr_reason != "open"))
| group_by(.cr_community)
| map(. as $group
	| .[] as $a
	| $group[] | select($a.host < .host)
	| select(.cr_uid == $a.cr_uid
		or ((without_syn or ($a | without_syn)) and (.cr_start - $a.cr_start | abs) < 60000000000))
	| {a: $a, b: ., lost: ((.cr_client_segments - $a.cr_client_segments | abs)
		+ (.cr_server_segments - $a.cr_server_segments | abs))})
| sort_by([-.lost, .a.cr_start, .a.cr_uid])
| .[:20][]
| [.a.cr_community, .a.host, .b.host, .a.cr_client, .a.cr_client_port, .a.cr_server, .a.cr_server_port,
	.a.cr_client_segments, .b.cr_client_segments, .a.cr_server_segments, .b.cr_server_segments,
	.a.cr_answer_max_us, .b.cr_answer_max_us]
| @tsv
