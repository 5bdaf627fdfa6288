-- SPDX-License-Identifier: BSD-2-Clause
-- From which subnets is TCP retransmitted?  By the sender's /24 of IPv4 or /64 of IPv6.
WITH ends AS (
	SELECT host, cr_client AS address, cr_client_segments AS segments, cr_client_resent AS resent
	FROM connections WHERE cr_protocol = 6 AND cr_reason <> 'open'
	UNION ALL
	SELECT host, cr_server, cr_server_segments, cr_server_resent
	FROM connections WHERE cr_protocol = 6 AND cr_reason <> 'open'
)
SELECT host, subnet(address) AS subnet,
	sum(segments) AS segments, sum(resent) AS resent, round(100.0 * sum(resent) / sum(segments), 2) AS percent
FROM ends
GROUP BY host, subnet
HAVING sum(resent) > 0
ORDER BY resent DESC, host, subnet
LIMIT 20;
