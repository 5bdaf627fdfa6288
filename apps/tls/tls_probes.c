/* SPDX-License-Identifier: BSD-2-Clause */
/* The tls probes: names, arguments, firing, printing. */
#include "apps/tls/tls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "apps/app.h"
#include "base/text.h"
#include "probes/fire.h"
#include "probes/netobs.h"
#include "probes/print/text_line.h"
#include "probes/site/semaphores.h"

/* Names of numbers in TLS; NULL for a number without one. */
static const char *
tls_version_name(uint16_t version)
{
	switch (version) {
	case 0x0300: return "SSLv3";
	case 0x0301: return "TLSv1.0";
	case 0x0302: return "TLSv1.1";
	case 0x0303: return "TLSv1.2";
	case 0x0304: return "TLSv1.3";
	default: return NULL;
	}
}

const char *
tls_cipher_name(uint16_t cipher)
{
	switch (cipher) {
#define CIPHER(number, name) \
	case number: return name;
#include "apps/tls/tls_cipher.def"
#undef CIPHER
	default: return NULL;
	}
}

/* The names of RFC 8446 section 6 and of the registry. */
static const char *
tls_alert_name(uint8_t description)
{
	static const char *const names[] = {
	    [0] = "close_notify",
	    [10] = "unexpected_message",
	    [20] = "bad_record_mac",
	    [21] = "decryption_failed",
	    [22] = "record_overflow",
	    [30] = "decompression_failure",
	    [40] = "handshake_failure",
	    [41] = "no_certificate",
	    [42] = "bad_certificate",
	    [43] = "unsupported_certificate",
	    [44] = "certificate_revoked",
	    [45] = "certificate_expired",
	    [46] = "certificate_unknown",
	    [47] = "illegal_parameter",
	    [48] = "unknown_ca",
	    [49] = "access_denied",
	    [50] = "decode_error",
	    [51] = "decrypt_error",
	    [60] = "export_restriction",
	    [70] = "protocol_version",
	    [71] = "insufficient_security",
	    [80] = "internal_error",
	    [86] = "inappropriate_fallback",
	    [90] = "user_canceled",
	    [100] = "no_renegotiation",
	    [109] = "missing_extension",
	    [110] = "unsupported_extension",
	    [112] = "unrecognized_name",
	    [113] = "bad_certificate_status_response",
	    [115] = "unknown_psk_identity",
	    [116] = "certificate_required",
	    [120] = "no_application_protocol",
	    [121] = "ech_required",
	};

	return description < sizeof names / sizeof names[0] ? names[description] : NULL;
}

/* Copies a name; without one, the number in hexadecimal. */
static void
args_tls_name(char *to, size_t size, const char *name, unsigned number)
{
	if (name != NULL)
		snprintf(to, size, "%s", name);
	else
		snprintf(to, size, "0x%04x", number);
}

static void
args_tls_client(struct tlsinfo *info, const struct tls_client *client)
{
	memcpy(info->tls_sni, client->name, sizeof info->tls_sni);
	memcpy(info->tls_alpn, client->alpn, sizeof info->tls_alpn);
	info->tls_version = client->version;
	info->tls_ech = client->ech;
	tls_ja4(client, info->tls_ja4);
}

static void
args_tls_server(struct tlsinfo *info, const struct tls_connection *connection)
{
	const struct tls_server *server = &connection->server;

	if (server->alpn_length > 0)
		memcpy(info->tls_alpn, server->alpn, sizeof info->tls_alpn);
	info->tls_version = server->version;
	info->tls_cipher = server->cipher;
	info->tls_group = server->group;
	info->tls_resumed = connection->resumed;
	args_tls_name(info->tls_cipherstr, sizeof info->tls_cipherstr, tls_cipher_name(server->cipher),
		      server->cipher);
}

static void
args_tls_alert(struct tlsinfo *info, const struct tls_message *message)
{
	const char *name = "encrypted";

	if (message->alert_description >= 0)
		name = tls_alert_name((uint8_t)message->alert_description);
	args_tls_name(info->tls_alertstr, sizeof info->tls_alertstr, name, (unsigned)message->alert_description);
}

static void
args_tlsinfo(struct tlsinfo *info, const struct tls_message *message)
{
	const struct tls_connection *connection = message->connection;

	*info = (struct tlsinfo){.tls_alert_level = message->alert_level,
				 .tls_alert_description = message->alert_description,
				 .tls_hello_us = connection->hello_us,
				 .tls_handshake_us = connection->handshake_us};
	if (connection->client.complete)
		args_tls_client(info, &connection->client);
	if (connection->negotiated)
		args_tls_server(info, connection);
	if (info->tls_version != 0)
		args_tls_name(info->tls_versionstr, sizeof info->tls_versionstr, tls_version_name(info->tls_version),
			      info->tls_version);
	snprintf(info->tls_from, sizeof info->tls_from, "%s", message->from_server ? "server" : "client");
	if (message->event == TLS_EVENT_ALERT)
		args_tls_alert(info, message);
}

/* Fires the probe of a message, a struct tls_message, unless it is not enabled. */
static void
tls_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	const struct tls_message *reported = message;
	enum probe_id probe = (enum probe_id)(PROBE_TLS_CLIENT_HELLO + (unsigned)reported->event);
	struct tlsinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_tlsinfo(&info, reported);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}

static char *
tls_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct tlsinfo *tls = firing->arg[STRUCT_TLSINFO];

	if (ci == NULL || tls == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = APP_PUT_TEXT(at, ", from ", tls->tls_from);
	at = APP_PUT_TEXT(at, ", sni ", tls->tls_sni);
	at = APP_PUT_TEXT(at, ", alpn ", tls->tls_alpn);
	at = APP_PUT_TEXT(at, ", version ", tls->tls_versionstr);
	at = APP_PUT_TEXT(at, ", cipher ", tls->tls_cipherstr);
	at = APP_PUT_TEXT(at, ", ja4 ", tls->tls_ja4);
	at = APP_PUT_TEXT(at, ", alert ", tls->tls_alertstr);
	at = app_put_time(at, ", hello ", tls->tls_hello_us);
	at = app_put_time(at, ", handshake ", tls->tls_handshake_us);
	at = tls->tls_resumed != 0 ? PUT(at, ", resumed") : at;
	return app_put_number(at, ", cid ", ci->ci_cid);
}

const struct app_protocol tls_app = {
    .name = "tls",
    .ports = {.port = {443, 465, 636, 853, 993, 995, 5061, 8443}, .count = 8},
    .reader = &tls_reader,
    .names = true,
    .first = PROBE_TLS_CLIENT_HELLO,
    .last = PROBE_TLS_ALERT,
    .fire = tls_fire,
    .text = {STRUCT_TLSINFO, tls_format_line},
};
