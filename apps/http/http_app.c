/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/http/http_fire.h"
#include "apps/http/http_print.h"
#include "apps/http/http_reader.h"

const struct app_protocol http_app = {
    .name = "http",
    .ports = {.port = {80, 3128, 8000, 8080}, .count = 4},
    .reader = &http_reader,
    .names = true,
    .probes_enabled = http_probes_enabled,
    .fire = http_fire,
    .text = {STRUCT_HTTPINFO, http_format_line},
};
