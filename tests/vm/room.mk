# SPDX-License-Identifier: BSD-2-Clause
# The whole machine: optional, never part of make check.

# They test check-vm itself, for those who change it.
all_tests += \
	%D%/dtrace_points.sh \
	%D%/harness.sh

.PHONY: check-vm distclean-vm
check-vm:
	@$(AM_TESTS_ENVIRONMENT) VM_CHECKS='$(VM_CHECKS)' VM_KEEP='$(VM_KEEP)' \
		VM_ALL='$(basename $(notdir $(vm_checks)))' $(srcdir)/%D%/check.sh

distclean-vm:
	rm -rf %D%/cache %D%/log
distclean-local: distclean-vm
