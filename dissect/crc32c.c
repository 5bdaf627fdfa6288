/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC32c as in RFC 9260 appendix A, reflected, four bits at a time. */
#include "dissect/layers.h"

/* Entry n is n shifted out over the reflected polynomial 0x82f63b78. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t
crc32c_update(uint32_t crc, struct view bytes)
{
	for (uint32_t i = 0; i < bytes.len; i++) {
		crc ^= view_u8(bytes, i);
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}
