/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/smb/smb_fire.h"
#include "apps/smb/smb_print.h"
#include "apps/smb/smb_reader.h"

const struct app_protocol smb_app = {
    .name = "smb",
    .ports = {.port = {139, 445}, .count = 2},
    .reader = &smb_reader,
    .probes_enabled = smb_probes_enabled,
    .fire = smb_fire,
    .text = {STRUCT_SMBOPINFO, smb_format_line},
};
