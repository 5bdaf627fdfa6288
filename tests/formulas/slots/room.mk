# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_slot_editor \
	%D%/test_slot_notes \
	%D%/test_slots
tests_formulas_slots_test_slot_notes_SOURCES = %D%/test_slot_notes.c %D%/elf_sample.c %D%/elf_sample.h

check_tests += \
	%D%/slots.sh

# Five tracers attach.
all_tests += \
	%D%/slots_traced.sh

EXTRA_PROGRAMS += %D%/fire_slots
%D%/slots.log %D%/slots_traced.log: %D%/fire_slots
