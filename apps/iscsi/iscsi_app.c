/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/iscsi/iscsi_fire.h"
#include "apps/iscsi/iscsi_print.h"
#include "apps/iscsi/iscsi_reader.h"

const struct app_protocol iscsi_app = {
    .name = "iscsi",
    .ports = {.port = {3260}, .count = 1}, /* RFC 7143 section 13 */
    .reader = &iscsi_reader,
    .probes_enabled = iscsi_probes_enabled,
    .fire = iscsi_fire,
    .text = {STRUCT_ISCSIINFO, iscsi_format_line},
};
