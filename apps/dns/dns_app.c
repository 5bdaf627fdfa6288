/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"
#include "apps/dns/dns_fire.h"
#include "apps/dns/dns_print.h"
#include "apps/dns/dns_reader.h"

const struct app_protocol dns_app = {
    .name = "dns",
    .ports = {.port = {53, 5353, 5355}, .count = 3},
    .reader = &dns_reader,
    .names = true,
    .probes_enabled = dns_probes_enabled,
    .fire = dns_fire,
    .text = {STRUCT_DNSINFO, dns_format_line},
};
