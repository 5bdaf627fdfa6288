/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * no_ipv6 COMMAND ARGUMENT...: runs a command as on a kernel without IPv6: socket(AF_INET6, ...) fails with
 * EAFNOSUPPORT.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || filter == NULL || seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) != 0 ||
	    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
			     SCMP_A0(SCMP_CMP_EQ, AF_INET6)) != 0 ||
	    seccomp_load(filter) != 0) {
		fprintf(stderr, "no_ipv6: cannot install the filter\n");
		return 1;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
