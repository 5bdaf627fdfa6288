-- SPDX-License-Identifier: BSD-2-Clause
-- From which subnets is TCP retransmitted?  By the sender's /24 of IPv4 or /64 of IPv6.
SELECT host, if(version = 4, concat(replaceOne(cutIPv6(ip, 8, 1), '::ffff:', ''), '/24'), concat(cutIPv6(ip, 8, 1), '/64')) AS subnet,
	sum(sent) AS segments, sum(again) AS resent, round(100 * resent / segments, 2) AS percent
FROM
(
	SELECT host, cr_version AS version, client_ip AS ip, cr_client_segments AS sent, cr_client_resent AS again
	FROM connections WHERE cr_protocol = 6 AND cr_reason != 'open'
	UNION ALL
	SELECT host, cr_version AS version, server_ip AS ip, cr_server_segments AS sent, cr_server_resent AS again
	FROM connections WHERE cr_protocol = 6 AND cr_reason != 'open'
)
GROUP BY host, subnet
HAVING resent > 0
ORDER BY resent DESC, host, subnet
LIMIT 20
