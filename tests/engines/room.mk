# SPDX-License-Identifier: BSD-2-Clause
# The samples of conf/engines against the engines.  A test whose engine is missing is skipped; check-engines fetches all of
# them into the cache first, and fails if one is missing.

# They need the engines, which are not packaged in Debian.
all_tests += \
	%D%/clickhouse.sh \
	%D%/clickhouse_local.sh \
	%D%/duckdb.sh \
	%D%/kafka.sh \
	%D%/postgresql.sh \
	%D%/rsyslog.sh \
	%D%/stream.sh

.PHONY: check-engines distclean-engines
check-engines: all-am
	@cache=$${NETOBS_ENGINES_CACHE:-%D%/cache} && $(srcdir)/%D%/fetch.sh --all "$$cache" && \
		NETOBS_ENGINES_CACHE=`cd "$$cache" && pwd` NETOBS_ENGINES_REQUIRED=1 \
		$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(filter %D%/%,$(all_tests))'

distclean-engines:
	rm -rf %D%/cache
distclean-local: distclean-engines
