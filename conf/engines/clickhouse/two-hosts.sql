-- SPDX-License-Identifier: BSD-2-Clause
-- What did two hosts capture of the same connection?  Segments that only one of them has were lost between them.
-- cr_uid is that of both hosts if both captured the client's SYN.  Other connections, and UDP, are the same if they began
-- within a minute by the clocks of the two hosts.
SELECT cr_community, host_a, host_b, client, client_port, server, server_port, client_a, client_b, server_a, server_b,
	answer_a, answer_b
FROM
(
	SELECT cr_community, host AS host_a, cr_uid AS uid_a, cr_start AS start_a, cr_client_flags AS flags_a,
		cr_client AS client, cr_client_port AS client_port, cr_server AS server, cr_server_port AS server_port,
		cr_client_segments AS client_a, cr_server_segments AS server_a, cr_answer_max_us AS answer_a
	FROM connections WHERE cr_reason != 'open'
) AS a
ALL INNER JOIN
(
	SELECT cr_community, host AS host_b, cr_uid AS uid_b, cr_start AS start_b, cr_client_flags AS flags_b,
		cr_client_segments AS client_b, cr_server_segments AS server_b, cr_answer_max_us AS answer_b
	FROM connections WHERE cr_reason != 'open'
) AS b
USING (cr_community)
WHERE host_a < host_b
	AND (uid_a = uid_b OR (bitAnd(bitAnd(flags_a, flags_b), 2) = 0 AND abs(start_a - start_b) < 60000000000))
ORDER BY abs(client_a - client_b) + abs(server_a - server_b) DESC, start_a, uid_a
LIMIT 20
