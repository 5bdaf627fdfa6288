/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/tls/tls_fire.h"
#include "apps/tls/tls_print.h"
#include "apps/tls/tls_reader.h"

const struct app_protocol tls_app = {
    .name = "tls",
    .ports = {.port = {443, 465, 636, 853, 993, 995, 5061, 8443}, .count = 8},
    .reader = &tls_reader,
    .names = true,
    .probes_enabled = tls_probes_enabled,
    .fire = tls_fire,
    .text = {STRUCT_TLSINFO, tls_format_line},
};
