# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/cli.sh \
	%D%/promises.sh \
	%D%/service.sh \
	%D%/totals.sh \
	%D%/unit_file.sh \
	%D%/unit_forbids.sh

# Requests, and replies that are not those of netobsd.
sanitizers_tests += \
	%D%/closed.sh \
	%D%/connections.sh \
	%D%/control.sh \
	%D%/formula_names.sh \
	%D%/formulas.sh \
	%D%/write_on.sh \
	%D%/stream.sh

# The rest at length, with programs that check does not install (promtool, tcpdump, tmux), tracers, and what needs seconds.
all_tests += \
	%D%/alerts.sh \
	%D%/confined.sh \
	%D%/debug.sh \
	%D%/formula_lock.sh \
	%D%/formula_storm.sh \
	%D%/formula_traced.sh \
	%D%/intruder.sh \
	%D%/lag.sh \
	%D%/metrics.sh \
	%D%/places.sh \
	%D%/processes.sh \
	%D%/rates.sh \
	%D%/write_on_live.sh \
	%D%/terminal.sh \
	%D%/top.sh \
	%D%/unit_limits.sh

# Many clients, readers that stop, programs that are killed, full disks: memory faults are likelier there.
all_sanitizers_tests += \
	%D%/clients.sh \
	%D%/connfs.sh \
	%D%/write_on_files.sh \
	%D%/slow_output.sh \
	%D%/stream_files.sh \
	%D%/stream_readers.sh \
	%D%/write.sh

# They measure time.
speed_tests += \
	%D%/connfs_speed.sh \
	%D%/ends_soon.sh \
	%D%/speed.sh \
	%D%/watchdog.sh

%D%/intruder.log: tests/tools/test_history
%D%/speed.log: bench/gentrace
