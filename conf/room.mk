# SPDX-License-Identifier: BSD-2-Clause
# The service: configuration, unit, user, completion, dashboards.

netobsconfdir = $(sysconfdir)/netobs
dist_netobsconf_DATA = conf/netobs.conf
EXTRA_DIST += conf/netobs.service.in conf/netobs-write@.service.in conf/netobs.sysusers conf/netobs.bash-completion \
	conf/netobs-scripts.bash-completion conf/netobsctl.bash-completion

# Dashboard, scrape configuration and alert rules for a site with many hosts, and formulas to choose from.
exampledir = $(docdir)/examples
dist_example_DATA = conf/grafana-dashboard.json conf/prometheus.yml conf/netobs.rules.yml conf/formulas.conf

# Schemas, configurations and questions for the engines that take connection records.
enginesdir = $(exampledir)/engines
dist_engines_DATA = conf/engines/README.md
dist_engines_SCRIPTS = conf/engines/record-lines
engineskafkadir = $(enginesdir)/kafka
dist_engineskafka_DATA = conf/engines/kafka/retransmissions.jq conf/engines/kafka/two-hosts.jq conf/engines/kafka/worst-servers.jq
enginesrsyslogdir = $(enginesdir)/rsyslog
dist_enginesrsyslog_DATA = conf/engines/rsyslog/netobs.conf
enginespostgresqldir = $(enginesdir)/postgresql
dist_enginespostgresql_DATA = conf/engines/postgresql/load.sql conf/engines/postgresql/retransmissions.sql \
	conf/engines/postgresql/schema.sql conf/engines/postgresql/two-hosts.sql conf/engines/postgresql/worst-servers.sql
enginesclickhousedir = $(enginesdir)/clickhouse
dist_enginesclickhouse_DATA = conf/engines/clickhouse/files.sql conf/engines/clickhouse/retransmissions.sql \
	conf/engines/clickhouse/schema.sql \
	conf/engines/clickhouse/two-hosts.sql conf/engines/clickhouse/worst-servers.sql
enginesduckdbdir = $(enginesdir)/duckdb
dist_enginesduckdb_DATA = conf/engines/duckdb/retransmissions.sql conf/engines/duckdb/schema.sql \
	conf/engines/duckdb/two-hosts.sql conf/engines/duckdb/worst-servers.sql

# The directories are those of systemd and of bash-completion; options of configure override systemd's.
if HAVE_SYSTEMD
systemdsystemunit_DATA = conf/netobs.service conf/netobs-write@.service
sysusers_DATA = conf/sysusers/netobs.conf
endif
completiondir = $(datadir)/bash-completion/completions
completion_DATA = conf/completions/netobsd conf/completions/netobs conf/completions/netobsctl

conf/netobs.service conf/netobs-write@.service: conf/%: $(srcdir)/conf/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		"$(srcdir)/conf/$*.in" >$@.new && mv $@.new $@
# Copies under their installed names.
conf/sysusers/netobs.conf: conf/netobs.sysusers
	$(AM_V_GEN)$(MKDIR_P) conf/sysusers && cp $(srcdir)/conf/netobs.sysusers $@
conf/completions/netobsd: conf/netobs.bash-completion
	$(AM_V_GEN)$(MKDIR_P) conf/completions && cp $(srcdir)/conf/netobs.bash-completion $@
conf/completions/netobs: conf/netobs-scripts.bash-completion
	$(AM_V_GEN)$(MKDIR_P) conf/completions && cp $(srcdir)/conf/netobs-scripts.bash-completion $@
conf/completions/netobsctl: conf/netobsctl.bash-completion
	$(AM_V_GEN)$(MKDIR_P) conf/completions && cp $(srcdir)/conf/netobsctl.bash-completion $@
CLEANFILES += $(completion_DATA)
CLEANFILES += conf/netobs.service conf/netobs-write@.service conf/sysusers/netobs.conf

# `make distcheck` installs below its own directory only.
AM_DISTCHECK_CONFIGURE_FLAGS = --with-systemdsystemunitdir='$${prefix}/lib/systemd/system' \
	--with-sysusersdir='$${prefix}/lib/sysusers.d'
