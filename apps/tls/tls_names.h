/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of numbers in TLS; NULL for a number without one. */
#ifndef NETOBS_APPS_TLS_TLS_NAMES_H
#define NETOBS_APPS_TLS_TLS_NAMES_H

#include <stdint.h>

const char *tls_version_name(uint16_t version);
const char *tls_cipher_name(uint16_t cipher);
const char *tls_alert_name(uint8_t description);

#endif
