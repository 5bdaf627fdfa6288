# SPDX-License-Identifier: BSD-2-Clause
# Captures with a known fault, made with real sockets in network namespaces: optional, never part of make check.

.PHONY: check-faults
check-faults: netobs-report
	@$(srcdir)/%D%/check.py $(CHECK_FAULTS) $(builddir)/netobs-report
