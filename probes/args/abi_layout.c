/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frozen layout of netobs.h: a script compiled against one release reads the memory of another.  The rows come
 * from tests/probes/abi.expected, which tests/probes/libraries.sh update extends and which never loses a line.  A new
 * field adds a line at the end of its struct, which changes only the size of that struct and increments
 * NETOBS_ABI_VERSION.
 */
#include <stddef.h>
#include <stdint.h>

#include "probes/netobs.h"

#define STRUCT_SIZE(tag, bytes)                             \
	_Static_assert(sizeof(struct tag) == (bytes),       \
		       "struct " #tag " has another size: " \
		       "tests/probes/libraries.sh update accepts new fields at its end")

/* Offset and size of a field. */
#define FIELD_AT(tag, field, offset, bytes)                                                               \
	_Static_assert(offsetof(struct tag, field) == (offset), "struct " #tag ": " #field " has moved"); \
	_Static_assert(sizeof(((struct tag *)0)->field) == (bytes), "struct " #tag ": " #field " has another size")

#define CONSTANT_IS(name, value) _Static_assert((name) == (value), #name " has another value")

#define SAME_TYPE(ours, standard) \
	_Static_assert(_Generic((ours)0, standard : 1, default : 0), #ours " is not " #standard)

SAME_TYPE(netobs_u8, uint8_t);
SAME_TYPE(netobs_u16, uint16_t);
SAME_TYPE(netobs_u32, uint32_t);
SAME_TYPE(netobs_be32, uint32_t);
SAME_TYPE(netobs_u64, uint64_t);
SAME_TYPE(netobs_i8, int8_t);
SAME_TYPE(netobs_i32, int32_t);
SAME_TYPE(netobs_i64, int64_t);
SAME_TYPE(netobs_ptr, uint64_t);
_Static_assert(sizeof(void *) <= sizeof(netobs_ptr), "an address does not fit");

#include "probes/abi_rows.h"
