/* SPDX-License-Identifier: BSD-2-Clause */
/* The text lines of connection-end and connection-active. */
#include "probes/netobs.h"
#include "probes/print/print_internal.h"

#define PUT_OWNER(at, end, pid, comm) put_connection_owner((at), (end), (pid), (comm), sizeof(comm))

static char *
put_connection_owner(char *at, const char *end, int32_t pid, const char *comm, size_t size)
{
	if (pid < 0)
		return at;
	at = PUT(at, ", ");
	at = put_string(at, end);
	at = PUT(at, " pid ");
	at = put_i64(at, pid);
	at = PUT(at, " (");
	at = put_plain_text(at, comm, size);
	*at++ = ')';
	return at;
}

static char *
put_connection_sent(char *at, const char *end, uint64_t segments, uint64_t bytes)
{
	at = PUT(at, ", ");
	at = put_string(at, end);
	at = PUT(at, " sent ");
	at = put_u64(at, bytes);
	at = PUT(at, " bytes in ");
	at = put_u64(at, segments);
	return PUT(at, " packets");
}

static char *
put_connection_trouble(char *at, const struct connrec *cr)
{
	if (cr->cr_client_resent + cr->cr_server_resent != 0) {
		at = PUT(at, ", resent ");
		at = put_u64(at, cr->cr_client_resent + cr->cr_server_resent);
	}
	if (cr->cr_rtt_samples != 0) {
		at = PUT(at, ", rtt ");
		at = put_i64(at, cr->cr_rtt_mean_us);
		at = PUT(at, " us");
	}
	if (cr->cr_exchanges != 0) {
		at = PUT(at, ", answer ");
		at = put_i64(at, cr->cr_answer_mean_us);
		at = PUT(at, " us");
	}
	return at;
}

char *
text_connection(char *at, const struct text_firing *firing)
{
	const struct connrec *cr = firing->arg[STRUCT_CONNREC];

	if (cr == NULL)
		return at;
	at = PUT_ENDPOINT(at, cr->cr_client, cr->cr_client_port);
	at = PUT(at, " > ");
	at = PUT_ENDPOINT(at, cr->cr_server, cr->cr_server_port);
	at = PUT(at, ": ");
	at = PUT_FIELD(at, cr->cr_protostr);
	*at++ = ' ';
	at = PUT_FIELD(at, cr->cr_reason);
	if (cr->cr_icmp_str[0] != '\0') {
		at = PUT(at, " (");
		at = PUT_FIELD(at, cr->cr_icmp_str);
		at = PUT(at, ", from ");
		at = PUT_FIELD(at, cr->cr_icmp_sender);
		*at++ = ')';
	}
	at = PUT(at, ", ");
	at = put_u64(at, cr->cr_duration_us);
	at = PUT(at, " us");
	at = put_connection_sent(at, "client", cr->cr_client_segments, cr->cr_client_bytes);
	at = put_connection_sent(at, "server", cr->cr_server_segments, cr->cr_server_bytes);
	at = put_connection_trouble(at, cr);
	at = PUT(at, ", uid ");
	at = put_hex64(at, cr->cr_uid);
	at = PUT_OWNER(at, "client", cr->cr_client_pid, cr->cr_client_comm);
	at = PUT_OWNER(at, "server", cr->cr_server_pid, cr->cr_server_comm);
	if (cr->cr_anomaly[0] != '\0') {
		at = PUT(at, " [");
		at = PUT_FIELD(at, cr->cr_anomaly);
		*at++ = ']';
	}
	return at;
}
