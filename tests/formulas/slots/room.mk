# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_slot_editor \
	%D%/test_slot_notes \
	%D%/test_slots
tests_formulas_slots_test_slot_notes_SOURCES = %D%/test_slot_notes.c %D%/elf_sample.c %D%/elf_sample.h

all_tests += \
	%D%/slots.sh

EXTRA_PROGRAMS += %D%/fire_slots
%D%/slots.log: %D%/fire_slots
