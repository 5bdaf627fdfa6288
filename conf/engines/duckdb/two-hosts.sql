-- SPDX-License-Identifier: BSD-2-Clause
-- What did two hosts capture of the same connection?  Segments that only one of them has were lost between them.
-- cr_uid is that of both hosts if both captured the client's SYN.  Other connections, and UDP, are the same if they began
-- within a minute by the clocks of the two hosts.
SELECT a.cr_community, a.host AS host_a, b.host AS host_b, a.cr_client, a.cr_client_port, a.cr_server, a.cr_server_port,
	a.cr_client_segments AS client_a, b.cr_client_segments AS client_b,
	a.cr_server_segments AS server_a, b.cr_server_segments AS server_b,
	a.cr_answer_max_us AS answer_a, b.cr_answer_max_us AS answer_b
FROM connections AS a JOIN connections AS b ON a.cr_community = b.cr_community
WHERE a.host < b.host AND a.cr_reason <> 'open' AND b.cr_reason <> 'open'
	AND (a.cr_uid = b.cr_uid
		OR ((a.cr_client_flags & b.cr_client_flags & 2) = 0 AND abs(a.cr_start - b.cr_start) < 60000000000))
ORDER BY abs(a.cr_client_segments - b.cr_client_segments) + abs(a.cr_server_segments - b.cr_server_segments) DESC,
	a.cr_start, a.cr_uid
LIMIT 20;
