/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_args.h"

#include <stdio.h>
#include <string.h>

#include "apps/tls/tls_ja4.h"
#include "apps/tls/tls_names.h"
#include "apps/tls/tls_reader.h"

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

void
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
