/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC32c (Castagnoli), the checksum of SCTP (RFC 9260 appendix A) and of iSCSI digests (RFC 7143 section 13.1). */
#ifndef NETOBS_DISSECT_CRC32C_H
#define NETOBS_DISSECT_CRC32C_H

#include <stdint.h>

#include "dissect/cursor.h"

/*
 * Continues `crc` over `bytes`.  A checksum starts from 0xffffffff, and its value is the complement of the last result.
 */
uint32_t crc32c_update(uint32_t crc, struct slice bytes);

#endif
