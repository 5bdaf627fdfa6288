# SPDX-License-Identifier: BSD-2-Clause
# Which servers refuse, do not answer, or answer slowly?  Failures first, then by the longest answer time.
# kcat -b BROKER -C -t netobs -e -q | jq -s -r -f worst-servers.jq
map(select(.cr_reason != "open"))
| group_by([.host, .cr_server, .cr_server_port])
| map({
	host: .[0].host, server: .[0].cr_server, port: .[0].cr_server_port, connections: length,
	failed: map(select(.cr_reason | IN("refused", "unreachable", "no-answer"))) | length,
	exchanges: map(.cr_exchanges) | add,
	answer_us: map(.cr_answer_mean_us * .cr_exchanges) | add,
	answer_max_us: map(.cr_answer_max_us) | max
})
| sort_by([-.failed, -.answer_max_us, .host, .server, .port])
| .[:20][]
| [.host, .server, .port, .connections, .failed, .exchanges,
	(if .exchanges > 0 then .answer_us / .exchanges | floor else -1 end), .answer_max_us]
| @tsv
