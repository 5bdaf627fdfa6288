# SPDX-License-Identifier: BSD-2-Clause
# The probe sites of formulas: a shared object, and the names in its notes.

libformulas_a_SOURCES += \
	%D%/private_copy.c \
	%D%/slot_file.c \
	%D%/slot_image.c \
	%D%/slot_image.h \
	%D%/slot_notes.c \
	%D%/slot_notes.h \
	%D%/slot_path.c \
	%D%/slots.h \
	%D%/slots_open.c
nodist_libformulas_a_SOURCES = formulas/slots/slots_template.c

# Code without any library, sanitizer or start-up function: loading it runs nothing, and there is nothing to relocate in
# its code.  It is not installed: netobsd contains its bytes, and writes the file that it maps with them.
EXTRA_PROGRAMS += %D%/formulas.so
formulas_slots_formulas_so_SOURCES = %D%/slots_object.c %D%/slots_object.h
formulas_slots_formulas_so_CFLAGS = $(WARN_CFLAGS) $(CODE_CFLAGS) $(HARDEN_CFLAGS) -fPIC -g0 -fno-lto
formulas_slots_formulas_so_LDFLAGS = -shared -nostdlib -fno-lto \
	-Wl,-S,-z,relro,-z,now,-z,defs,-z,noexecstack,--build-id=sha1
formulas_slots_formulas_so_LDADD =
formulas/slots/slots_template.c: formulas/slots/formulas.so
	$(AM_V_GEN){ echo '#include "formulas/slots/slot_image.h"' && \
		echo 'const uint8_t slots_template[] = {' && \
		od -An -v -tx1 formulas/slots/formulas.so | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g' && \
		echo '};' && \
		echo 'const size_t slots_template_size = sizeof slots_template;'; } >$@.new && mv $@.new $@
CLEANFILES += formulas/slots/slots_template.c
