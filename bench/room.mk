# SPDX-License-Identifier: BSD-2-Clause
# Measurements: BENCH_FLAGS="--quick --rows replay,peers" and so on (bench/run.py --help).

EXTRA_PROGRAMS += bench/bench_table bench/gentrace bench/live_send bench/pcap_floor
bench_pcap_floor_LDADD = $(PCAP_LIBS)
bench_live_send_LDADD = $(PCAP_LIBS)
bench_gentrace_LDADD =
EXTRA_DIST += bench/NOTES.md bench/attach.py bench/copies.py bench/formulas.py bench/live.py bench/run.py bench/site_cost.py

.PHONY: bench
bench: all-am bench/pcap_floor bench/live_send bench/gentrace
	$(srcdir)/bench/run.py --build . $(BENCH_FLAGS)
