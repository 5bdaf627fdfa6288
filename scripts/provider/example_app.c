/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/example/example_fire.h"
#include "apps/example/example_print.h"
#include "apps/example/example_reader.h"

const struct app_protocol example_app = {
    .name = "example",
    .ports = {.port = {@PORT@}, .count = 1},
    .reader = &example_reader,
    .probes_enabled = example_probes_enabled,
    .fire = example_fire,
    .text = {STRUCT_EXAMPLEINFO, example_format_line},
};
