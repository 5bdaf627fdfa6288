# SPDX-License-Identifier: BSD-2-Clause
# The whole machine: optional, never part of make check.

.PHONY: check-vm
check-vm:
	@$(AM_TESTS_ENVIRONMENT) VM_CHECKS='$(or $(VM_CHECKS),$(basename $(notdir $(vm_checks))))' VM_KEEP='$(VM_KEEP)' $(srcdir)/%D%/check.sh

distclean-local:
	rm -rf %D%/cache %D%/log
