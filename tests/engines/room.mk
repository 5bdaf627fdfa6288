# SPDX-License-Identifier: BSD-2-Clause
# The samples of conf/engines against the engines.  A test whose engine is missing is skipped; check-engines fetches all of
# them into the cache first, and fails if one is missing.

engine_tests = \
	%D%/clickhouse.sh \
	%D%/clickhouse_local.sh \
	%D%/duckdb.sh \
	%D%/kafka.sh \
	%D%/postgresql.sh \
	%D%/rsyslog.sh \
	%D%/stream.sh
shell_tests += $(engine_tests)

.PHONY: check-engines distclean-engines
check-engines: all-am
	@cache=$${NETOBS_ENGINES_CACHE:-%D%/cache} && $(srcdir)/%D%/fetch.sh --all "$$cache" && \
		NETOBS_ENGINES_CACHE=`cd "$$cache" && pwd` NETOBS_ENGINES_REQUIRED=1 \
		$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(engine_tests)'

distclean-engines:
	rm -rf %D%/cache
distclean-local: distclean-engines
