-- SPDX-License-Identifier: BSD-2-Clause
-- Which servers refuse, do not answer, or answer slowly?  Failures first, then by the longest answer time.
SELECT host, cr_server, cr_server_port, count(*) AS connections,
	count(*) FILTER (WHERE cr_reason IN ('refused', 'unreachable', 'no-answer')) AS failed,
	sum(cr_exchanges) AS exchanges,
	div(sum(cr_answer_mean_us * cr_exchanges), nullif(sum(cr_exchanges), 0)) AS answer_mean_us,
	max(cr_answer_max_us) AS answer_max_us
FROM connections
WHERE cr_reason <> 'open'
GROUP BY host, cr_server, cr_server_port
ORDER BY failed DESC, answer_max_us DESC, host, cr_server, cr_server_port
LIMIT 20;
