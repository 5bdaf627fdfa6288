/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of formulas.so, as built, in the program: whatever file is mapped later is compared with them. */
#ifndef NETOBS_FORMULAS_SLOTS_SLOTS_TEMPLATE_H
#define NETOBS_FORMULAS_SLOTS_SLOTS_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t slots_template[];
extern const size_t slots_template_size;

#endif
