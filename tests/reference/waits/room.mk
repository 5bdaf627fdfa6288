# SPDX-License-Identifier: BSD-2-Clause
# Connections that wait for known times, made in network namespaces: optional, never part of make check.

.PHONY: check-waits
check-waits: netobsd
	@$(srcdir)/%D%/waits.sh $(builddir)/netobsd $(CHECK_WAITS)
