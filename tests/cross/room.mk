# SPDX-License-Identifier: BSD-2-Clause
# Other processors: optional, never part of make check.

# The shell tests that run under the emulator, besides the unit tests and tests/probes/notes.sh.
cross_scripts = \
	tests/fuzz/fuzz.sh \
	tests/golden/golden.sh \
	%D%/same_replay.sh

.PHONY: check-cross distclean-cross
check-cross: all-am
	@$(AM_TESTS_ENVIRONMENT) CROSS='$(CROSS)' CROSS_SCRIPTS='$(cross_scripts)' $(srcdir)/%D%/check.sh

distclean-cross:
	rm -rf %D%/cache
distclean-local: distclean-cross
