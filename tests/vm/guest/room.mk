# SPDX-License-Identifier: BSD-2-Clause
# Scripts of make check-vm that run in the guest, in this order.  The first one begins without the package.

vm_checks += \
	%D%/package.sh \
	%D%/boot.sh \
	%D%/write_on.sh \
	%D%/tracers.sh \
	%D%/devices.sh \
	%D%/netem.sh \
	%D%/two_ends.sh \
	%D%/soak.sh \
	%D%/dtrace.sh \
	%D%/dtrace_replays.sh
