# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_args \
	%D%/test_args_record \
	%D%/test_connection_id \
	%D%/test_fire \
	%D%/test_manifest \
	%D%/test_nearest \
	%D%/test_print \
	%D%/test_print_fields \
	%D%/test_site

quick_tests += \
	%D%/contract.sh \
	%D%/libraries.sh

check_tests += \
	%D%/firing_order.sh \
	%D%/header_parse.sh \
	%D%/json.sh \
	%D%/manifest_awk.sh \
	%D%/notes.sh

# With files of $NETOBS_SHARED, whose content changes; with compilers and awks that check does not need; tracers at every
# site.
all_tests += \
	%D%/other_programs.sh \
	%D%/shared_firing_order.sh \
	%D%/shared_json.sh \
	%D%/tracer_sites.sh

EXTRA_PROGRAMS += %D%/fire_sites
%D%/contract.log %D%/notes.log %D%/other_programs.log %D%/tracer_sites.log: %D%/fire_sites
%D%/notes.log: formulas/slots/formulas.so
