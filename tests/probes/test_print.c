/* SPDX-License-Identifier: BSD-2-Clause */
/* The printer: the lines, hostile text, extreme values, and readers that close the pipe. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/app.h"
#include "base/json.h"
#include "base/text.h"
#include "probes/print/print.h"
#include "probes/sites.h"
#include "tests/lib/json_check.h"
#include "tests/probes/probe_args_sample.h"

#define TEXT_MAX 65536

static struct probe_args_sample samples;
static char printed[TEXT_MAX];

static const bool *
every_probe(void)
{
	static bool chosen[PROBE_COUNT];

	memset(chosen, true, sizeof chosen);
	return chosen;
}

/* Prints one firing with these arguments; the line is in `printed`, without its newline. */
static size_t
print_args(enum print_format format, enum probe_id id, const void *const args[6])
{
	FILE *file = tmpfile();
	struct printer *printer;
	size_t length;

	assert_non_null(file);
	printer = printer_new(fileno(file), format, every_probe());
	assert_non_null(printer);
	printer_print_firing(printer, id, args);
	assert_int_equal(printer_free(printer), 0);
	rewind(file);
	length = fread(printed, 1, sizeof printed - 1, file);
	fclose(file);
	assert_true(length > 0 && printed[length - 1] == '\n');
	printed[--length] = '\0';
	assert_null(strchr(printed, '\n'));
	return length;
}

static const char *
print_sample(enum print_format format, enum probe_id id)
{
	const void *args[6];

	probe_args_sample_args(&samples, id, args);
	print_args(format, id, args);
	return printed;
}

static int
fresh_samples(void **state)
{
	(void)state;
	probe_args_sample_fill(&samples);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static void
numbers_are_right_at_every_power_of_ten(void **state)
{
	uint64_t power = 1;
	char want[32], got[32];

	(void)state;
	for (unsigned i = 0; i <= 20; i++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t value = power + (uint64_t)d;

			*put_u64(got, value) = '\0';
			snprintf(want, sizeof want, "%" PRIu64, value);
			assert_string_equal(got, want);
			*put_i64(got, -(int64_t)(value / 2)) = '\0';
			snprintf(want, sizeof want, "%" PRId64, -(int64_t)(value / 2));
			assert_string_equal(got, want);
		}
		power = i < 19 ? power * 10 : UINT64_MAX;
	}
	*put_i64(got, INT64_MIN) = '\0';
	assert_string_equal(got, "-9223372036854775808");
	*put_u32(got, UINT32_MAX) = '\0';
	assert_string_equal(got, "4294967295");
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void
json_of_a_state_change(void **state)
{
	const char *line = print_sample(PRINT_JSON, PROBE_TCP_STATE_CHANGE);
	static const char start[] =
	    "{\"probe\":\"tcp-state-change\",\"args\":[null,{\"cs_addr\":18446612685805960943,\"cs_cid\":12,"
	    "\"cs_pid\":-1,\"cs_zoneid\":4026531840,\"cs_ts\":1795172523123456789,\"cs_seq\":5,"
	    "\"cs_comm\":\"<unknown>\"},{\"tcps_addr\":18446612685805960943,\"tcps_local\":0,\"tcps_active\":1,"
	    "\"tcps_lport\":40000,\"tcps_rport\":443,\"tcps_laddr\":\"192.0.2.1\",\"tcps_raddr\":\"198.51.100.2\","
	    "\"tcps_state\":1,\"tcps_iss\":4294967200,";
	static const char end[] =
	    "\"tcps_statestr\":\"state-fin-wait-1\",\"tcps_snd_bytes\":94,\"tcps_rcv_bytes\":99,"
	    "\"tcps_snd_segs\":4,\"tcps_rcv_segs\":3,\"tcps_snd_retrans\":1,\"tcps_rcv_retrans\":0,"
	    "\"tcps_start\":1795172523000000000,\"tcps_kernel\":0},null,"
	    "{\"tcps_state\":1,\"tcps_statestr\":\"state-established\"}]}";

	(void)state;
	assert_memory_equal(line, start, sizeof start - 1);
	assert_string_equal(line + strlen(line) - (sizeof end - 1), end);
}

static void
json_of_a_frame(void **state)
{
	(void)state;
	assert_string_equal(
	    print_sample(PRINT_JSON, PROBE_GLD_RECEIVE),
	    "{\"probe\":\"gld-receive\",\"args\":[{\"pkt_addr\":7,\"pkt_ts\":1795172523123456789,\"pkt_len\":98,"
	    "\"pkt_caplen\":96,\"pkt_link\":1,\"pkt_csum\":\"ok\",\"pkt_reason\":\"\",\"pkt_seq\":3},null,"
	    "{\"ip_ver\":4,\"ip_plength\":64,\"ip_saddr\":\"192.0.2.1\",\"ip_daddr\":\"198.51.100.2\"},"
	    "{\"if_name\":\"eth0\",\"if_local\":0,\"if_ipstack\":4026531840,\"if_addr\":2},"
	    "{\"eth_dst\":\"00005e005302\",\"eth_src\":\"00005e005301\",\"eth_type\":2048,\"eth_istagged\":1,"
	    "\"eth_priority\":5,\"eth_dei\":1,\"eth_vlanid\":4094,\"eth_shost\":\"00:00:5e:00:53:01\","
	    "\"eth_dhost\":\"00:00:5e:00:53:02\",\"eth_length\":98}]}");
}

static void
json_null_where_there_is_nothing(void **state)
{
	const void *const nothing[6] = {NULL};

	(void)state;
	print_args(PRINT_JSON, PROBE_TCP_RECEIVE, nothing);
	assert_string_equal(printed, "{\"probe\":\"tcp-receive\",\"args\":[null,null,null,null,null]}");
	print_args(PRINT_JSON, PROBE_TCP_STATE_CHANGE, nothing);
	assert_string_equal(printed, "{\"probe\":\"tcp-state-change\",\"args\":[null,null,null,null,null,null]}");
}

static void
assert_json_text(const char *text, const char *want)
{
	char got[512];

	*put_json_text(got, text, strlen(text) + 1) = '\0';
	assert_string_equal(got, want);
}

static void
json_text_is_escaped(void **state)
{
	(void)state;
	assert_json_text("plain ~", "plain ~");
	assert_json_text("a\"b\\c/", "a\\\"b\\\\c/");
	assert_json_text("\n\t\r\x01\x1f\x7f", "\\n\\t\\r\\u0001\\u001f\\u007f");
	assert_json_text("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	assert_json_text("\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_json_text("\xff\xc3", "\\u00ff\\u00c3");
	assert_json_text("\xc0\xaf", "\\u00c0\\u00af");			/* overlong */
	assert_json_text("\xed\xa0\x80", "\\u00ed\\u00a0\\u0080");	/* surrogate */
	assert_json_text("\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080"); /* beyond Unicode */
	assert_json_text("\xc2\x9b", "\\u00c2\\u009b");			/* a terminal's CSI */
	assert_json_text("\xc2\xa0", "\xc2\xa0");
}

static void
assert_foreign_lines(const char *lines, size_t size, const char *want)
{
	char got[512];
	size_t length = (size_t)(put_foreign_lines(got, lines, size) - got);

	assert_int_equal(length, strlen(want));
	assert_memory_equal(got, want, length);
}

/* Lines of something else than netobsd. */
static void
foreign_lines_are_escaped(void **state)
{
	static const char nul[] = "a\0b\n{\"a\0\"}\n";
	const char *lines = "a \"b\\\tc\r\x1b[31m\x7f\xc2\x9b\xe2\x80\xae\xc3\xbc\n\n"
			    "{\"a\":\"\\n\tc\r\x1b[31m\x7f\xc2\x9b\xe2\x80\xae\xc3\xbc\xff\"}\n\xc3";
	char got[64];

	(void)state;
	assert_foreign_lines(lines, strlen(lines),
			     "a \"b\\\tc\\x0d\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xc3\\xbc\n\n"
			     "{\"a\":\"\\n\tc\\r\\u001b[31m\\u007f\\u00c2\\u009b\\u202e\xc3\xbc\\u00ff\"}\n\\xc3");
	assert_foreign_lines(nul, sizeof nul - 1, "a\\x00b\n{\"a\\u0000\"}\n");
	assert_foreign_lines("", 0, "");
	*put_foreign_text(got, "a\tb\n\\x1b\x1b", 9) = '\0';
	assert_string_equal(got, "a\\x09b\\x0a\\x1b\\x1b");
}

/* What put_plain_text() writes can be read again; other text is read as it is. */
static void
plain_text_is_read(void **state)
{
	static const char *const texts[] = {"", "plain", "a\\x1b", "\\\\\"\x1b\xff\t\\x4", "\xc3\xbc\\"};
	char plain[64], bytes[64];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		*put_plain_text(plain, texts[i], strlen(texts[i])) = '\0';
		assert_int_equal(format_read_plain(plain, bytes), strlen(texts[i]));
		assert_memory_equal(bytes, texts[i], strlen(texts[i]));
	}
	bytes[format_read_plain("\\x1 \\xg0 \\x", bytes)] = '\0';
	assert_string_equal(bytes, "\\x1 \\xg0 \\x");
	bytes[format_read_plain("a\\", bytes)] = '\0';
	assert_string_equal(bytes, "a\\");
}

/* Characters that change the direction of the text after them, or that are not shown. */
static void
hidden_characters_are_escaped(void **state)
{
	char got[64];

	(void)state;
	assert_json_text("txt\xe2\x80\xaegpj", "txt\\u202egpj");
	assert_json_text("\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "\\u202a\\u202b\\u202c\\u202d");
	assert_json_text("\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069");
	assert_json_text("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c");
	assert_json_text("\xe2\x80\x8b\xef\xbb\xbf\xc2\xad\xe2\x80\xa8", "\\u200b\\ufeff\\u00ad\\u2028");
	assert_json_text("\xf3\xa0\x81\x81\xf0\x9d\x85\xb3", "\\udb40\\udc41\\ud834\\udd73"); /* tag, music */
	assert_json_text("\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf");	    /* neighbours */
	*put_plain_text(got, "a\xe2\x80\xaez", 5) = '\0';
	assert_string_equal(got, "a\\xe2\\x80\\xaez");
}

/* Each byte at each position, compared with the same text written byte by byte. */
static void
text_is_escaped_at_every_position(void **state)
{
	char *(*const writers[])(char *, const char *, size_t) = {put_json_text, put_plain_text};

	(void)state;
	for (unsigned n = 0; n < 2 * 20 * 256; n++) {
		char text[20], got[128], want[128], *at = want;
		char *(*put)(char *, const char *, size_t) = writers[n % 2];

		memset(text, 'x', sizeof text);
		text[n / 2 % 20] = (char)(n / 40);
		for (size_t i = 0; i < sizeof text && text[i] != '\0'; i++)
			at = put(at, &text[i], 1);
		*at = '\0';
		*put(got, text, sizeof text) = '\0';
		assert_string_equal(got, want);
	}
}

static void
text_fields_end_with_their_size(void **state)
{
	const size_t length = sizeof samples.illinfo.if_name;

	(void)state;
	memset(samples.illinfo.if_name, 'x', length);
	print_sample(PRINT_JSON, PROBE_ARP_RECEIVE);
	assert_non_null(strstr(printed, "\"if_name\":\"xxxxxxxxxxxxxxxx\",\"if_local\":0"));
	memset(samples.illinfo.if_name, 0xc3, length); /* first half of a character that never comes */
	print_sample(PRINT_JSON, PROBE_ARP_RECEIVE);
	assert_non_null(strstr(printed, "\\u00c3\\u00c3\",\"if_local\":0"));
}

/* A struct without a sample (probe_args_sample.c) would be printed as zeros, which proves nothing. */
static void
every_struct_has_a_sample(void **state)
{
	(void)state;
	for (unsigned id = 0; id < STRUCT_COUNT; id++) {
		const unsigned char *bytes = probe_args_sample_get(&samples, (enum struct_id)id);
		size_t nonzero = 0;

		for (size_t i = 0; i < manifest_structs[id].size; i++)
			nonzero += bytes[i] != 0;
		if (nonzero == 0)
			print_message("no sample of struct %s\n", manifest_structs[id].name);
		assert_int_not_equal(nonzero, 0);
	}
}

static void
json_of_any_bytes_is_json(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		unsigned char *bytes = (unsigned char *)&samples;

		for (size_t i = 0; i < sizeof samples; i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = round == 0 ? 0xff : round == 1 ? 0x01 : (unsigned char)(random >> 24);
		}
		for (unsigned id = 0; id < PROBE_COUNT; id++) {
			const void *args[6];
			size_t length, where;

			probe_args_sample_args(&samples, (enum probe_id)id, args);
			length = print_args(PRINT_JSON, (enum probe_id)id, args);
			assert_true(json_check(printed, length, &where));
		}
	}
}

static void
json_of_the_largest_values(void **state)
{
	(void)state;
	memset(&samples, 0xff, sizeof samples);
	memset(samples.csinfo.cs_comm, 0, sizeof samples.csinfo.cs_comm);
	print_sample(PRINT_JSON, PROBE_TCP_STATE_CHANGE);
	assert_non_null(strstr(printed, "[null,{\"cs_addr\":18446744073709551615,\"cs_cid\":18446744073709551615,"
					"\"cs_pid\":-1,\"cs_zoneid\":-1,\"cs_ts\":18446744073709551615,"
					"\"cs_seq\":18446744073709551615,\"cs_comm\":\"\"}"));
	samples.illinfo.if_local = INT8_MIN;
	samples.csinfo.cs_pid = INT32_MIN;
	samples.csinfo.cs_zoneid = INT64_MIN;
	print_sample(PRINT_JSON, PROBE_IP_RECEIVE);
	assert_non_null(strstr(printed, "\"if_local\":-128"));
	assert_non_null(strstr(printed, "\"cs_pid\":-2147483648,\"cs_zoneid\":-9223372036854775808"));
}

/* The number that a little-endian machine reads, whatever this machine reads. */
static void
json_of_network_order(void **state)
{
	(void)state;
	memcpy(&samples.ipv4info.ipv4_src, (const uint8_t[]){10, 0, 0, 1}, 4);
	memcpy(&samples.ipv4info.ipv4_dst, (const uint8_t[]){10, 0, 0, 200}, 4);
	print_sample(PRINT_JSON, PROBE_IP_RECEIVE);
	assert_non_null(strstr(printed, "\"ipv4_src\":16777226,\"ipv4_dst\":3355443210,"));
}

/* ------------------------------------------------------------------------------------------------------------- text */

#define TIME "2026-11-20T11:02:03.123456789Z "

static void
text_of_the_link(void **state)
{
	(void)state;
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_GLD_SEND),
			    TIME "gld-send eth0 00:00:5e:00:53:01 > 00:00:5e:00:53:02, type 0x0800, vlan 4094, "
				 "priority 5, dei, length 98, 192.0.2.1 > 198.51.100.2");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_ARP_RECEIVE),
			    TIME "arp-receive eth0 request 192.0.2.1 (00:00:5e:00:53:01) > 192.0.2.2 "
				 "(00:00:00:00:00:00)");
}

static void
text_of_ip(void **state)
{
	const void *args[6];

	(void)state;
	probe_args_sample_args(&samples, PROBE_IP_RECEIVE, args);
	args[5] = NULL;
	samples.csinfo.cs_pid = 4242;
	memcpy(samples.csinfo.cs_comm, "curl", sizeof "curl");
	print_args(PRINT_TEXT, PROBE_IP_RECEIVE, args);
	assert_string_equal(printed, TIME "ip-receive eth0 192.0.2.1 > 198.51.100.2: TCP, payload 64, ttl 64, "
					  "id 54321, DF, tos 0x10, cid 12, pid 4242 (curl)");
	samples.ipv4info.ipv4_flags = 1;
	samples.ipv4info.ipv4_offset = 185;
	samples.ipv4info.ipv4_tos = 0;
	memcpy(samples.pktinfo.pkt_reason, "overlap", sizeof "overlap");
	args[1] = NULL;
	print_args(PRINT_TEXT, PROBE_IP_SEND, args);
	assert_string_equal(printed, TIME "ip-send eth0 192.0.2.1 > 198.51.100.2: TCP, payload 64, ttl 64, id 54321, "
					  "fragment at 1480+ [overlap]");
	probe_args_sample_args(&samples, PROBE_IP_RECEIVE, args);
	args[1] = args[4] = NULL;
	print_args(PRINT_TEXT, PROBE_IP_RECEIVE, args);
	assert_string_equal(printed, TIME "ip-receive eth0 192.0.2.1 > 198.51.100.2: ICMPv6, payload 64, hlim 255, "
					  "flow 0xabcde, class 0xb8 [overlap]");
}

static void
text_of_transports(void **state)
{
	(void)state;
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_ICMP_RECEIVE),
			    TIME "icmp-receive eth0 192.0.2.1 > 198.51.100.2: unreachable: fragmentation needed, "
				 "mtu 1400, about 192.0.2.1:40000 > 198.51.100.2:443 protocol 6, cid 12");
	memcpy(samples.pktinfo.pkt_csum, "bad", sizeof "bad");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_UDP_SEND),
			    TIME "udp-send 192.0.2.1:5353 > 198.51.100.2:53: length 40, cid 12, bad checksum");
}

static void
text_of_tcp(void **state)
{
	const void *args[6];

	(void)state;
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_TCP_RECEIVE),
			    TIME "tcp-receive 192.0.2.1:40000 > 198.51.100.2:443: PSH|ACK, seq 4294967295, ack 1000, "
				 "win 502, length 32, state-established, cid 12");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_TCP_STATE_CHANGE),
			    TIME "tcp-state-change 192.0.2.1:40000 - 198.51.100.2:443: state-established -> "
				 "state-fin-wait-1, cid 12");
	memcpy(samples.ipinfo.ip_saddr, "2001:db8::1", sizeof "2001:db8::1");
	memcpy(samples.ipinfo.ip_daddr, "2001:db8::2", sizeof "2001:db8::2");
	samples.tcpinfo.tcp_flags = NETOBS_TH_RST;
	memcpy(samples.tcpinfo.tcp_flagstr, "RST", sizeof "RST");
	probe_args_sample_args(&samples, PROBE_TCP_ACCEPT_REFUSED, args);
	args[1] = args[3] = NULL;
	print_args(PRINT_TEXT, PROBE_TCP_ACCEPT_REFUSED, args);
	assert_string_equal(printed, TIME "tcp-accept-refused [2001:db8::1]:40000 > [2001:db8::2]:443: RST, "
					  "seq 4294967295, win 502, length 32");
}

static void
text_of_connections(void **state)
{
	(void)state;
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_CONNECTION_END),
			    TIME "connection-end 192.0.2.1:40000 > 198.51.100.2:443: TCP fin, 123456 us, client sent "
				 "94 bytes in 7 packets, server sent 5000 bytes in 6 packets, resent 3, rtt 4321 us, "
				 "answer 2500 us, uid 00ab54a98ceb1f0a, client pid 4242 (curl) [tcp-short]");
	memcpy(samples.connrec.cr_client, "2001:db8::1", sizeof "2001:db8::1");
	memcpy(samples.connrec.cr_protostr, "UDP", sizeof "UDP");
	memcpy(samples.connrec.cr_reason, "open", sizeof "open");
	samples.connrec.cr_client_resent = samples.connrec.cr_server_resent = 0;
	samples.connrec.cr_rtt_samples = samples.connrec.cr_exchanges = 0;
	samples.connrec.cr_client_pid = -1;
	samples.connrec.cr_server_pid = 7;
	memcpy(samples.connrec.cr_server_comm, "nginx", sizeof "nginx");
	memset(samples.connrec.cr_anomaly, 0, sizeof samples.connrec.cr_anomaly);
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_CONNECTION_ACTIVE),
			    TIME "connection-active [2001:db8::1]:40000 > 198.51.100.2:443: UDP open, 123456 us, "
				 "client sent 94 bytes in 7 packets, server sent 5000 bytes in 6 packets, "
				 "uid 00ab54a98ceb1f0a, server pid 7 (nginx)");
}

/* Other programs round numbers of 64 bits: the identity is a string. */
static void
json_of_an_identity(void **state)
{
	static const char start[] = "{\"probe\":\"connection-end\",\"args\":[{\"cr_uid\":\"00ab54a98ceb1f0a\","
				    "\"cr_community\":\"1:LQU9qZlK+B5F3KDmev6m5PMibrg=\",\"cr_client\":";

	(void)state;
	assert_memory_equal(print_sample(PRINT_JSON, PROBE_CONNECTION_END), start, sizeof start - 1);
	samples.connrec.cr_uid = UINT64_MAX;
	assert_non_null(strstr(print_sample(PRINT_JSON, PROBE_CONNECTION_END), "\"cr_uid\":\"ffffffffffffffff\","));
}

static void
text_shows_no_control_characters(void **state)
{
	(void)state;
	memcpy(samples.illinfo.if_name, "\x1b[2Je\\\xff\n", sizeof "\x1b[2Je\\\xff\n");
	print_sample(PRINT_TEXT, PROBE_ARP_SEND);
	assert_memory_equal(printed, TIME "arp-send \\x1b[2Je\\\\\\xff\\x0a request",
			    sizeof(TIME "arp-send \\x1b[2Je\\\\\\xff\\x0a request") - 1);
	memset(&samples, 0xff, sizeof samples);
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		print_sample(PRINT_TEXT, (enum probe_id)id);
		for (const char *at = printed; *at != '\0'; at++)
			assert_true(*at >= 0x20 && *at < 0x7f);
	}
}

static void
text_without_any_argument(void **state)
{
	const void *const nothing[6] = {NULL};

	(void)state;
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		print_args(PRINT_TEXT, (enum probe_id)id, nothing);
	print_args(PRINT_TEXT, PROBE_TCP_SEND, nothing);
	assert_string_equal(printed, "1970-01-01T00:00:00.000000000Z tcp-send ");
}

static void
assert_time(uint64_t ns, const char *want)
{
	samples.pktinfo.pkt_ts = ns;
	print_sample(PRINT_TEXT, PROBE_TCP_SEND);
	assert_memory_equal(printed, want, strlen(want));
}

static void
text_time_is_utc(void **state)
{
	(void)state;
	assert_time(0, "1970-01-01T00:00:00.000000000Z ");
	assert_time(951782399999999999, "2000-02-28T23:59:59.999999999Z ");
	assert_time(951782400000000000, "2000-02-29T00:00:00.000000000Z ");
	assert_time(951868800000000000, "2000-03-01T00:00:00.000000000Z ");
	assert_time(4107542400000000001, "2100-03-01T00:00:00.000000001Z ");
	assert_time(UINT64_MAX, "2554-07-21T23:34:33.709551615Z ");
}

static void
text_of_one_printer_follows_the_clock(void **state)
{
	FILE *file = tmpfile();
	struct printer *printer = printer_new(fileno(file), PRINT_TEXT, every_probe());
	static const uint64_t times[] = {999999999, 1000000000, 1, 86400000000000};
	const void *args[6];
	size_t length;

	(void)state;
	probe_args_sample_args(&samples, PROBE_ARP_SEND, args);
	memset(&samples.arpinfo, 0, sizeof samples.arpinfo);
	memset(&samples.illinfo, 0, sizeof samples.illinfo);
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		samples.pktinfo.pkt_ts = times[i];
		printer_print_firing(printer, PROBE_ARP_SEND, args);
	}
	printer_free(printer);
	rewind(file);
	length = fread(printed, 1, sizeof printed - 1, file);
	printed[length] = '\0';
	fclose(file);
	assert_string_equal(printed, "1970-01-01T00:00:00.999999999Z arp-send   () >  ()\n"
				     "1970-01-01T00:00:01.000000000Z arp-send   () >  ()\n"
				     "1970-01-01T00:00:00.000000001Z arp-send   () >  ()\n"
				     "1970-01-02T00:00:00.000000000Z arp-send   () >  ()\n");
}

/* ----------------------------------------------------------------------------------------------- choice and writing */

static void
only_the_chosen_are_enabled_and_printed(void **state)
{
	FILE *file = tmpfile();
	bool chosen[PROBE_COUNT] = {false};
	struct printer *printer;

	(void)state;
	chosen[PROBE_UDP_SEND] = true;
	assert_false(PROBE_ENABLED(udp__send));
	printer = printer_new(fileno(file), PRINT_TEXT, chosen);
	assert_true(PROBE_ENABLED(udp__send));
	assert_false(PROBE_ENABLED(udp__receive));
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		const void *args[6];

		probe_args_sample_args(&samples, (enum probe_id)id, args);
		printer_print_firing(printer, (enum probe_id)id, args);
	}
	assert_int_equal(printer_free(printer), 0);
	assert_false(PROBE_ENABLED(udp__send));
	rewind(file);
	assert_non_null(fgets(printed, sizeof printed, file));
	assert_non_null(strstr(printed, " udp-send "));
	assert_null(fgets(printed, sizeof printed, file));
	fclose(file);
}

/* Prints until something has surely been written. */
static void
print_much(struct printer *printer)
{
	const void *args[6];

	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	for (unsigned i = 0; i < 2000; i++)
		printer_print_firing(printer, PROBE_TCP_SEND, args);
}

static void
a_closed_pipe_is_an_error(void **state)
{
	struct printer *printer;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	printer = printer_new(ends[1], PRINT_JSON, every_probe());
	assert_int_equal(printer_error(printer), 0);
	print_much(printer);
	assert_int_equal(printer_error(printer), EPIPE);
	print_much(printer); /* still harmless */
	assert_int_equal(printer_free(printer), EPIPE);
	close(ends[1]);
}

static void
a_full_device_is_an_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct printer *printer;
	const void *args[6];

	(void)state;
	if (fd < 0)
		return; /* this system has no /dev/full */
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	printer = printer_new(fd, PRINT_TEXT, every_probe());
	printer_print_firing(printer, PROBE_TCP_SEND, args);
	assert_int_equal(printer_error(printer), 0);
	printer_flush(printer);
	assert_int_equal(printer_error(printer), ENOSPC);
	assert_int_equal(printer_free(printer), ENOSPC);
	close(fd);
}

/* Bytes that come out of a pipe, read in small pieces. */
static size_t
drain(int fd)
{
	char piece[1000];
	size_t total = 0;
	ssize_t n;

	while ((n = read(fd, piece, sizeof piece)) > 0)
		total += (size_t)n;
	return total;
}

static void
a_slow_reader_gets_everything(void **state)
{
	struct printer *printer;
	int ends[2], status;
	size_t line;
	pid_t child;

	(void)state;
	line = strlen(print_sample(PRINT_JSON, PROBE_TCP_SEND)) + 1;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(ends[1]);
		_exit(drain(ends[0]) == 4000 * line ? 0 : 1);
	}
	close(ends[0]);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	printer = printer_new(ends[1], PRINT_JSON, every_probe());
	print_much(printer);
	print_much(printer);
	assert_int_equal(printer_free(printer), 0);
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *
print_much_in_a_thread(void *printer)
{
	print_much(printer);
	return NULL;
}

static void
lines_of_two_threads_stay_whole(void **state)
{
	FILE *file = tmpfile();
	struct printer *first = printer_new(fileno(file), PRINT_JSON, every_probe()),
		       *second = printer_new_shared(first);
	static char line[TEXT_MAX];
	unsigned lines = 0;
	pthread_t thread;

	(void)state;
	assert_non_null(second);
	assert_int_equal(pthread_create(&thread, NULL, print_much_in_a_thread, second), 0);
	print_much(first);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(printer_free(second), 0);
	assert_true(PROBE_ENABLED(tcp__send));
	assert_int_equal(printer_free(first), 0);
	assert_false(PROBE_ENABLED(tcp__send));
	rewind(file);
	assert_non_null(fgets(line, sizeof line, file));
	for (lines = 1; fgets(printed, sizeof printed, file) != NULL; lines++)
		assert_string_equal(printed, line);
	assert_int_equal(lines, 4000);
	fclose(file);
}

static void
an_error_of_one_thread_stops_the_other(void **state)
{
	struct printer *first, *second;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	first = printer_new(ends[1], PRINT_JSON, every_probe());
	second = printer_new_shared(first);
	print_much(second);
	assert_int_equal(printer_error(first), EPIPE);
	assert_int_equal(printer_free(second), EPIPE);
	assert_int_equal(printer_free(first), EPIPE);
	close(ends[1]);
}

#define DCCP_ENDPOINTS TIME "dccp-receive 192.0.2.1:5001 > 198.51.100.2:5002: "

static void
text_of_dccp(void **state)
{
	struct dccpinfo *dccp = &samples.dccpinfo;

	(void)state;
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "reset, seq 281474976710655, ack 1000, no-connection, length 7, cid 12");
	memcpy(dccp->dccp_resetstr, "<unknown>", sizeof "<unknown>");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "reset, seq 281474976710655, ack 1000, code 3, length 7, cid 12");
	dccp->dccp_type = NETOBS_DCCP_REQUEST;
	dccp->dccp_service = 42;
	memcpy(dccp->dccp_typestr, "request", sizeof "request");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "request, seq 281474976710655, service 42, length 7, cid 12");
	dccp->dccp_x = 0; /* a header that is not parsed to its end */
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "request, seq 281474976710655, length 7, cid 12");
	dccp->dccp_type = NETOBS_DCCP_DATA_ACK;
	memcpy(dccp->dccp_typestr, "data-ack", sizeof "data-ack");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "data-ack, seq 281474976710655, ack 1000, length 7, cid 12");
	dccp->dccp_type = 12;
	memcpy(dccp->dccp_typestr, "<unknown>", sizeof "<unknown>");
	assert_string_equal(print_sample(PRINT_TEXT, PROBE_DCCP_RECEIVE),
			    DCCP_ENDPOINTS "type 12, seq 281474976710655, length 7, cid 12");
}

#define FRESH(test) cmocka_unit_test_setup(test, fresh_samples)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FRESH(text_of_dccp),
	    FRESH(every_struct_has_a_sample),
	    FRESH(numbers_are_right_at_every_power_of_ten),
	    FRESH(json_of_a_state_change),
	    FRESH(json_of_a_frame),
	    FRESH(json_null_where_there_is_nothing),
	    FRESH(json_text_is_escaped),
	    FRESH(hidden_characters_are_escaped),
	    FRESH(foreign_lines_are_escaped),
	    FRESH(plain_text_is_read),
	    FRESH(text_is_escaped_at_every_position),
	    FRESH(text_fields_end_with_their_size),
	    FRESH(json_of_any_bytes_is_json),
	    FRESH(json_of_the_largest_values),
	    FRESH(json_of_network_order),
	    FRESH(text_of_the_link),
	    FRESH(text_of_ip),
	    FRESH(text_of_transports),
	    FRESH(text_of_tcp),
	    FRESH(text_of_connections),
	    FRESH(json_of_an_identity),
	    FRESH(text_shows_no_control_characters),
	    FRESH(text_without_any_argument),
	    FRESH(text_time_is_utc),
	    FRESH(text_of_one_printer_follows_the_clock),
	    FRESH(only_the_chosen_are_enabled_and_printed),
	    FRESH(a_closed_pipe_is_an_error),
	    FRESH(a_full_device_is_an_error),
	    FRESH(a_slow_reader_gets_everything),
	    FRESH(lines_of_two_threads_stay_whole),
	    FRESH(an_error_of_one_thread_stops_the_other),
	};

	app_register_text();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
