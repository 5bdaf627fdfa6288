/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iscsilogin - which iSCSI logins are refused?
 *
 * STATUS is class and detail of RFC 7143 section 11.13.5: 0x0201 the authentication failed, 0x0203 there is no such
 * target.  A redirection (0x01..) is not a refusal.  ADDRESS is the remote address: the initiator's, unless only the
 * initiator is local; then it is the target's.
 */
#pragma D option quiet

BEGIN
{
	printf("%6s  %-40s %s\n", "STATUS", "ADDRESS", "TARGET");
}

netobs*:::iscsi-login-response
/args[1]->ii_status >= 0x200/
{
	printf("0x%04x  %-40s %s\n", args[1]->ii_status, args[0]->ci_remote, args[1]->ii_target);
}
