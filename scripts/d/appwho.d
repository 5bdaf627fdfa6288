/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * appwho - which clients use the application protocols?
 *
 * Counts the messages of every application provider by remote address and local port.  The first argument of all of
 * them is a conninfo_t; for a further provider, add its probes.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::dns-query,
netobs*:::dns-response,
netobs*:::dns-timeout,
netobs*:::http-request-start,
netobs*:::http-request-done,
netobs*:::smb-op-start,
netobs*:::smb-op-done,
netobs*:::tls-client-hello,
netobs*:::tls-server-hello,
netobs*:::tls-established,
netobs*:::tls-alert,
netobs*:::iscsi-async-send,
netobs*:::iscsi-login-command,
netobs*:::iscsi-login-response,
netobs*:::iscsi-logout-command,
netobs*:::iscsi-logout-response,
netobs*:::iscsi-data-receive,
netobs*:::iscsi-data-request,
netobs*:::iscsi-data-send,
netobs*:::iscsi-nop-receive,
netobs*:::iscsi-nop-send,
netobs*:::iscsi-scsi-command,
netobs*:::iscsi-scsi-response,
netobs*:::iscsi-task-command,
netobs*:::iscsi-task-response,
netobs*:::iscsi-text-command,
netobs*:::iscsi-text-response
{
	@messages[args[0]->ci_remote, args[0]->ci_lport] = count();
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@messages[%s, %d]: %@d\n", @messages);
}
