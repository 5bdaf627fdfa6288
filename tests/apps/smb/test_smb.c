/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB: headers, texts, operations split at every place, chains, gaps, limits, damaged and hostile messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/smb/smb.h"
#include "flow/flow.h"
#include "probes/netobs.h"

#define CLIENT 0
#define SERVER 1

#define SESSION 0x1122334455667788u
#define TREE	5u

static uint8_t bytes[70000];
static uint32_t length; /* of the transport message in `bytes` */
static uint32_t last;	/* where its last message begins */

#define CHANNELS 3

static struct smb_connection connection, channels[CHANNELS];
static struct flow flows[CHANNELS + 1];
static struct app_context ctx;
static void *sessions;
static uint64_t session = SESSION; /* of the messages that are sent */
static char log_text[20000]; /* one line for each report */
static unsigned reports;
static uint64_t anomalies[ANOMALY_COUNT], all_anomalies;

/* ------------------------------------------------------------------------------------------------- what is reported */

static void
on_message(void *context, unsigned sender, const void *data)
{
	const struct smb_operation *operation = data;
	struct smbopinfo info;
	size_t used = strlen(log_text);

	(void)context;
	args_smbopinfo(&info, operation);
	assert_int_equal(operation->from_server, sender == SERVER);
	reports++;
	snprintf(log_text + used, sizeof log_text - used, "%s %s [%s] [%s] %s %u %llu %lld\n",
		 sender == SERVER ? "done" : "start", info.soi_opstr, info.soi_share, info.soi_curpath,
		 info.soi_statusstr, info.soi_count, (unsigned long long)info.soi_offset,
		 (long long)info.soi_latency_us);
}

static void
on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	anomalies[a]++;
	all_anomalies++;
}

/* Sends on another connection of that state; `index` tells the flows apart. */
static void
switch_to(struct smb_connection *state, unsigned index)
{
	ctx.state = state;
	ctx.flow = &flows[index];
	ctx.cid = 2 * index + 1;
}

/* Begins a connection whose client has an address with that last byte. */
static void
begin_connection(struct smb_connection *state, unsigned index, uint8_t client, bool beginning)
{
	memset(state, 0, sizeof *state);
	flows[index] = (struct flow){.kind = FLOW_TCP,
				     .key = {.addr = {{192, 0, 2, client}, {192, 0, 2, 1}},
					     .port = {(uint16_t)(40000 + index), 445},
					     .version = 4}};
	switch_to(state, index);
	smb_reader.on_start(&ctx, CLIENT, beginning);
	smb_reader.on_start(&ctx, SERVER, beginning);
}

static void
begin(bool beginning)
{
	const struct app_settings settings = {.seed = 1, .workers = 1};

	if (sessions == NULL)
		sessions = smb_reader.open(&settings);
	assert_non_null(sessions);
	smb_reader.clear(sessions);
	memset(anomalies, 0, sizeof anomalies);
	log_text[0] = '\0';
	reports = 0;
	all_anomalies = 0;
	session = SESSION;
	ctx = (struct app_context){.shared = sessions,
				   .now = 1000000000,
				   .server_endpoint = SERVER,
				   .traced = true,
				   .on_message = on_message,
				   .on_anomaly = on_anomaly};
	begin_connection(&connection, CHANNELS, 9, beginning);
}

/* ----------------------------------------------------------------------------------------------------- what is sent */

static void
put(uint32_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* A transport message of so many bytes. */
static void
set_length(uint32_t size)
{
	length = size;
	bytes[0] = 0;
	bytes[1] = (uint8_t)((size - 4) >> 16);
	bytes[2] = (uint8_t)((size - 4) >> 8);
	bytes[3] = (uint8_t)(size - 4);
}

/* Appends a message: header, and a body of `size` bytes that begins with its structure size. */
static void
add(uint16_t command, uint64_t mid, uint32_t flags, uint32_t status, uint16_t structure_size, uint32_t size)
{
	uint32_t at = last = length;

	memset(bytes + at, 0, SMB_HEADER_BYTES + size);
	put(at, 0x424d53fe, 4);
	put(at + 4, SMB_HEADER_BYTES, 2);
	put(at + 8, status, 4);
	put(at + 12, command, 2);
	put(at + 16, flags, 4);
	put(at + 24, mid, 8);
	put(at + 36, TREE, 4);
	put(at + 40, session, 8);
	put(at + SMB_HEADER_BYTES, structure_size, 2);
	set_length(at + SMB_HEADER_BYTES + size);
}

static void
message(uint16_t command, uint64_t mid, uint32_t flags, uint32_t status, uint16_t structure_size, uint32_t size)
{
	length = SMB_TRANSPORT_BYTES;
	add(command, mid, flags, status, structure_size, size);
}

/* Another message after the last one, at a multiple of 8 bytes. */
static void
chain(uint16_t command, uint64_t mid, uint32_t flags, uint16_t structure_size, uint32_t size)
{
	uint32_t before = last, next = (length - last + 7) & ~7u;

	memset(bytes + length, 0, before + next - length);
	length = before + next;
	put(before + 20, next, 4);
	add(command, mid, flags, 0, structure_size, size);
}

/* A text of the last message, after its fixed part. */
static void
add_name(uint32_t at, const char *name)
{
	uint32_t offset = length - last, size = 2 * (uint32_t)strlen(name);

	put(last + at, offset, 2);
	put(last + at + 2, size, 2);
	for (uint32_t i = 0; i < size / 2; i++)
		put(length + 2 * i, (uint8_t)name[i], 2);
	set_length(length + size);
}

static void
set_file(uint32_t at, uint8_t file)
{
	memset(bytes + last + at, file, SMB_FILE_ID_BYTES);
}

/* Memory that ends where the part does, for AddressSanitizer. */
static void
feed_part(unsigned sender, uint32_t from, uint32_t size)
{
	uint8_t *copy = malloc(size + 1);

	assert_non_null(copy);
	memcpy(copy, bytes + from, size);
	if (smb_reader.is_reading(ctx.state, sender))
		smb_reader.on_bytes(&ctx, sender, (struct slice){copy, size});
	free(copy);
}

static uint32_t split; /* bytes of each part, 0 whole */

static void
send_message(unsigned sender)
{
	uint32_t step = split != 0 ? split : length;

	for (uint32_t at = 0; at < length; at += step)
		feed_part(sender, at, length - at < step ? length - at : step);
	ctx.now += 1000;
}

static void
response(uint16_t command, uint64_t mid, uint32_t status, uint16_t structure_size, uint32_t size)
{
	message(command, mid, SMB_FLAG_RESPONSE, status, structure_size, size);
}

static void
connect_share(void)
{
	message(SMB_TREE_CONNECT, 3, 0, 0, 9, 8);
	add_name(68, "\\\\server\\share");
	send_message(CLIENT);
	response(SMB_TREE_CONNECT, 3, 0, 16, 16);
	send_message(SERVER);
}

static void
send_create(uint64_t mid, const char *path)
{
	message(SMB_CREATE, mid, 0, 0, 57, 56);
	add_name(108, path);
	send_message(CLIENT);
}

static void
open_file(uint64_t mid, const char *path, uint8_t file)
{
	send_create(mid, path);
	response(SMB_CREATE, mid, 0, 89, 88);
	set_file(128, file);
	send_message(SERVER);
}

static void
send_read(uint64_t mid, uint32_t count, uint64_t offset, uint8_t file)
{
	message(SMB_READ, mid, 0, 0, 49, 49);
	put(last + 68, count, 4);
	put(last + 72, offset, 8);
	set_file(80, file);
	send_message(CLIENT);
}

static void
answer_read(uint64_t mid, uint32_t count)
{
	response(SMB_READ, mid, 0, 17, 16 + count);
	put(last + 68, count, 4);
	send_message(SERVER);
}

static void
send_close(uint64_t mid, uint8_t file)
{
	message(SMB_CLOSE, mid, 0, 0, 24, 24);
	set_file(72, file);
	send_message(CLIENT);
}

static const char whole_session[] =
    "start negotiate [] []  0 0 -1\n"
    "done negotiate [] [] STATUS_SUCCESS 0 0 1\n"
    "start tree-connect [\\\\server\\share] []  0 0 -1\n"
    "done tree-connect [\\\\server\\share] [] STATUS_SUCCESS 0 0 1\n"
    "start create [\\\\server\\share] [dir\\file]  0 0 -1\n"
    "done create [\\\\server\\share] [dir\\file] STATUS_SUCCESS 0 0 1\n"
    "start read [\\\\server\\share] [dir\\file]  1000 4096 -1\n"
    "done read [\\\\server\\share] [dir\\file] STATUS_SUCCESS 900 4096 1\n"
    "start close [\\\\server\\share] [dir\\file]  0 0 -1\n"
    "done close [\\\\server\\share] [dir\\file] STATUS_SUCCESS 0 0 1\n"
    "start read [\\\\server\\share] []  1 0 -1\n"
    "done read [\\\\server\\share] [] STATUS_FILE_CLOSED 0 0 1\n";

static void
run_session(void)
{
	message(SMB_NEGOTIATE, 0, 0, 0, 36, 38);
	send_message(CLIENT);
	response(SMB_NEGOTIATE, 0, 0, 65, 64);
	put(last + 68, 0x0311, 2);
	send_message(SERVER);
	connect_share();
	open_file(4, "dir\\file", 7);
	send_read(5, 1000, 4096, 7);
	answer_read(5, 900);
	send_close(6, 7);
	response(SMB_CLOSE, 6, 0, 60, 60);
	send_message(SERVER);
	send_read(7, 1, 0, 7);
	response(SMB_READ, 7, 0xc0000128, 9, 8);
	send_message(SERVER);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static void
test_state_is_bounded(void **state)
{
	(void)state;
	assert_true(sizeof(struct smb_connection) <= 36 * 1024);
	assert_true(smb_reader.shared_size(&(struct app_settings){.workers = 1}) <= 3 * 1024 * 1024);
}

static void
test_texts(void **state)
{
	const uint8_t utf16[] = {'a',  0,    0xe4, 0,	0xac, 0x20, 0x3d, 0xd8, 0,  0xde,
				 0x3d, 0xd8, 'b',  0,	0,    0,    0,	  0xdc, 'x'};
	char text[32];

	(void)state;
	smb_text(text, sizeof text, (struct slice){utf16, sizeof utf16});
	assert_string_equal(text, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd"
				  "b\xef\xbf\xbd\xef\xbf\xbd");
	smb_text(text, 4, (struct slice){utf16, sizeof utf16});
	assert_string_equal(text, "a\xc3\xa4");
	smb_text(text, 3, (struct slice){utf16, sizeof utf16});
	assert_string_equal(text, "a");
	smb_text(text, sizeof text, (struct slice){utf16, 0});
	assert_string_equal(text, "");
	assert_string_equal(smb_command_name(SMB_OPLOCK_BREAK), "oplock-break");
	assert_null(smb_command_name(SMB_COMMANDS));
	assert_string_equal(smb_status_name(0xc0000022), "STATUS_ACCESS_DENIED");
	assert_null(smb_status_name(0xc0ffee00));
	assert_string_equal(smb_dialect_name(0x0311), "3.1.1");
	assert_null(smb_dialect_name(0x0400));
}

static void
test_names_fit_their_fields(void **state)
{
	struct smbopinfo info;

	(void)state;
	for (uint16_t command = 0; command < SMB_COMMANDS; command++)
		assert_true(strlen(smb_command_name(command)) < sizeof info.soi_opstr);
#define STATUS(number, name) assert_true(sizeof "STATUS_" #name <= sizeof info.soi_statusstr);
#include "apps/smb/smb_status.def"
#undef STATUS
}

static void
test_session_split_at_every_place(void **state)
{
	(void)state;
	for (split = 0; split <= 300; split++) {
		begin(true);
		run_session();
		assert_string_equal(log_text, whole_session);
		assert_int_equal(all_anomalies, 0);
		assert_int_equal(connection.dialect, 0x0311);
		assert_int_equal(connection.tables.requests, 0);
	}
	split = 0;
}

static void
test_chain(void **state)
{
	(void)state;
	begin(true);
	connect_share();
	log_text[0] = '\0';
	message(SMB_CREATE, 10, 0, 0, 57, 56);
	add_name(108, "a");
	chain(SMB_QUERY_INFO, 11, SMB_FLAG_RELATED, 41, 40);
	set_file(88, 255);
	put(last + 36, 0xffffffff, 4);
	put(last + 40, UINT64_MAX, 8);
	chain(SMB_CLOSE, 12, SMB_FLAG_RELATED, 24, 24);
	set_file(72, 255);
	send_message(CLIENT);
	response(SMB_CREATE, 10, 0, 89, 88);
	set_file(128, 9);
	chain(SMB_QUERY_INFO, 11, SMB_FLAG_RESPONSE, 9, 24);
	chain(SMB_CLOSE, 12, SMB_FLAG_RESPONSE, 60, 60);
	send_message(SERVER);
	assert_string_equal(log_text, "start create [\\\\server\\share] [a]  0 0 -1\n"
				      "start query-info [\\\\server\\share] [a]  0 0 -1\n"
				      "start close [\\\\server\\share] [a]  0 0 -1\n"
				      "done create [\\\\server\\share] [a] STATUS_SUCCESS 0 0 1\n"
				      "done query-info [\\\\server\\share] [a] STATUS_SUCCESS 0 0 1\n"
				      "done close [\\\\server\\share] [a] STATUS_SUCCESS 0 0 1\n");
	assert_int_equal(all_anomalies, 0);
}

/* The path of a file that was not opened, or is closed, is known of requests that were sent before. */
static void
test_requests_beyond_the_end_of_a_file(void **state)
{
	(void)state;
	begin(true);
	connect_share();
	log_text[0] = '\0';
	message(SMB_CREATE, 10, 0, 0, 57, 56);
	add_name(108, "a");
	chain(SMB_QUERY_INFO, 11, SMB_FLAG_RELATED, 41, 40);
	set_file(88, 255);
	chain(SMB_CLOSE, 12, SMB_FLAG_RELATED, 24, 24);
	set_file(72, 255);
	send_message(CLIENT);
	log_text[0] = '\0';
	response(SMB_CREATE, 10, 0xc0000034, 9, 8);
	chain(SMB_QUERY_INFO, 11, SMB_FLAG_RESPONSE, 9, 8);
	put(last + 8, 0xc0000034, 4);
	chain(SMB_CLOSE, 12, SMB_FLAG_RESPONSE, 9, 8);
	put(last + 8, 0xc0000034, 4);
	send_message(SERVER);
	assert_string_equal(log_text, "done create [\\\\server\\share] [a] STATUS_OBJECT_NAME_NOT_FOUND 0 0 1\n"
				      "done query-info [\\\\server\\share] [a] STATUS_OBJECT_NAME_NOT_FOUND 0 0 1\n"
				      "done close [\\\\server\\share] [a] STATUS_OBJECT_NAME_NOT_FOUND 0 0 1\n");
	open_file(20, "b", 1);
	send_read(21, 5, 6, 1);
	send_close(22, 1);
	response(SMB_CLOSE, 22, 0, 60, 60);
	send_message(SERVER);
	log_text[0] = '\0';
	answer_read(21, 5);
	send_read(23, 5, 6, 1);
	assert_string_equal(log_text, "done read [\\\\server\\share] [b] STATUS_SUCCESS 5 6 3\n"
				      "start read [\\\\server\\share] []  5 6 -1\n");
	/* The places of ended files are taken first. */
	for (uint8_t file = 1; file <= SMB_FILES_MAX; file++)
		open_file(100 + file, "f", file);
	assert_int_equal(all_anomalies, 0);
}

static void
test_asynchronous_response(void **state)
{
	(void)state;
	begin(true);
	message(SMB_CHANGE_NOTIFY, 20, 0, 0, 32, 32);
	send_message(CLIENT);
	message(SMB_CHANGE_NOTIFY, 20, SMB_FLAG_RESPONSE | SMB_FLAG_ASYNC, SMB_STATUS_PENDING, 9, 9);
	send_message(SERVER);
	assert_int_equal(reports, 1);
	message(SMB_CANCEL, 20, SMB_FLAG_ASYNC, 0, 4, 4);
	send_message(CLIENT);
	message(SMB_CHANGE_NOTIFY, 20, SMB_FLAG_RESPONSE | SMB_FLAG_ASYNC, 0xc0000120, 9, 9);
	send_message(SERVER);
	message(SMB_OPLOCK_BREAK, UINT64_MAX, SMB_FLAG_RESPONSE, 0, 24, 24);
	send_message(SERVER);
	assert_string_equal(log_text, "start change-notify [] []  0 0 -1\n"
				      "start cancel [] []  0 0 -1\n"
				      "done change-notify [] [] STATUS_CANCELLED 0 0 3\n");
	assert_int_equal(all_anomalies, 0);
}

static void
test_response_without_its_request(void **state)
{
	(void)state;
	begin(false);
	answer_read(5, 10);
	assert_string_equal(log_text, "done read [] [] STATUS_SUCCESS 10 0 -1\n");
	/* Another command under a message id is not a response to it. */
	send_read(6, 1, 2, 3);
	response(SMB_WRITE, 6, 0, 17, 16);
	send_message(SERVER);
	assert_non_null(strstr(log_text, "done write [] [] STATUS_SUCCESS 0 0 -1\n"));
}

static void
test_refused_files_and_shares_are_forgotten(void **state)
{
	(void)state;
	begin(true);
	message(SMB_TREE_CONNECT, 3, 0, 0, 9, 8);
	add_name(68, "\\\\server\\no");
	send_message(CLIENT);
	response(SMB_TREE_CONNECT, 3, 0xc00000cc, 9, 8);
	send_message(SERVER);
	assert_non_null(strstr(log_text, "done tree-connect [\\\\server\\no] [] STATUS_BAD_NETWORK_NAME"));
	assert_int_equal(connection.tables.share[0].state, SMB_ENDED);
	connect_share();
	send_create(4, "no");
	response(SMB_CREATE, 4, 0xc0000034, 9, 8);
	send_message(SERVER);
	assert_non_null(strstr(log_text, "[no] STATUS_OBJECT_NAME_NOT_FOUND"));
	assert_int_equal(connection.tables.file[0].state, SMB_ENDED);
	open_file(5, "yes", 1);
	assert_int_equal(connection.tables.file[1].state, SMB_OPEN);
	message(SMB_LOGOFF, 6, 0, 0, 4, 4);
	send_message(CLIENT);
	response(SMB_LOGOFF, 6, 0, 4, 4);
	send_message(SERVER);
	assert_int_equal(connection.tables.file[1].state, SMB_ENDED);
	assert_int_equal(connection.tables.share[1].state, SMB_ENDED);
}

/* The end of a file or share was not captured, and the server uses its id again. */
static void
test_ids_that_are_used_again(void **state)
{
	(void)state;
	begin(true);
	connect_share();
	open_file(4, "old", 7);
	open_file(5, "new", 7);
	send_read(6, 1, 2, 7);
	assert_non_null(strstr(log_text, "start read [\\\\server\\share] [new]  1 2 -1\n"));
	message(SMB_TREE_CONNECT, 7, 0, 0, 9, 8);
	add_name(68, "\\\\server\\other");
	send_message(CLIENT);
	response(SMB_TREE_CONNECT, 7, 0, 16, 16);
	send_message(SERVER);
	send_read(8, 1, 2, 7);
	assert_non_null(strstr(log_text, "start read [\\\\server\\other] [new]  1 2 -1\n"));
	/* Of a request that was not captured the path is not known. */
	response(SMB_CREATE, 9, 0, 89, 88);
	set_file(128, 7);
	send_message(SERVER);
	response(SMB_TREE_CONNECT, 10, 0, 16, 16);
	send_message(SERVER);
	send_read(11, 1, 2, 7);
	assert_non_null(strstr(log_text, "start read [] []  1 2 -1\n"));
	assert_int_equal(all_anomalies, 0);
}

static void
test_chain_with_a_damaged_message(void **state)
{
	(void)state;
	begin(true);
	connect_share();
	log_text[0] = '\0';
	message(SMB_CREATE, 10, 0, 0, 57, 56);
	add_name(108, "a");
	chain(SMB_CREATE, 11, 0, 57, 56);
	put(last + 110, 7, 2);
	chain(SMB_CLOSE, 12, SMB_FLAG_RELATED, 24, 24);
	set_file(72, 255);
	send_message(CLIENT);
	assert_string_equal(log_text, "start create [\\\\server\\share] [a]  0 0 -1\n"
				      "start close [\\\\server\\share] []  0 0 -1\n");
	assert_int_equal(anomalies[ANOMALY_SMB_BODY], 1);
}

/* A notification that no client asked for, whose command is not one of enum smb_command (section 2.2.44). */
static void
test_notification_of_the_server(void **state)
{
	(void)state;
	begin(true);
	response(SMB_COMMANDS, UINT64_MAX, 0, 4, 8);
	send_message(SERVER);
	assert_int_equal(reports, 0);
	assert_int_equal(all_anomalies, 0);
	response(SMB_COMMANDS, 5, 0, 4, 8);
	send_message(SERVER);
	assert_int_equal(anomalies[ANOMALY_SMB_BODY], 1);
}

/* 50 bytes are missing anywhere in a write with its data: if they are data, nothing is lost; and the next message is
 * read in any case. */
static void
test_gap_at_every_place(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 4 + 112 + 2000 - 50; at++) {
		begin(true);
		connect_share();
		open_file(4, "f", 7);
		log_text[0] = '\0';
		message(SMB_WRITE, 5, 0, 0, 49, 48 + 2000);
		put(last + 68, 2000, 4);
		put(last + 72, 8192, 8);
		set_file(80, 7);
		feed_part(CLIENT, 0, at);
		smb_reader.on_gap(&ctx, CLIENT, 50);
		feed_part(CLIENT, at + 50, length - at - 50);
		if (at >= 4 + 112) {
			assert_string_equal(log_text, "start write [\\\\server\\share] [f]  2000 8192 -1\n");
			assert_int_equal(all_anomalies, 0);
		} else if (at >= 4 + SMB_HEADER_BYTES) {
			/* What its header says is known. */
			assert_string_equal(log_text, "start write [\\\\server\\share] []  0 0 -1\n");
		} else {
			assert_string_equal(log_text, "");
			assert_int_equal(anomalies[ANOMALY_SMB_LOST], 1);
		}
		log_text[0] = '\0';
		send_read(6, 1, 2, 7);
		assert_string_equal(log_text, "start read [\\\\server\\share] [f]  1 2 -1\n");
	}
}

static void
test_path_cut_by_the_capture(void **state)
{
	(void)state;
	for (uint32_t missing = 1; missing <= 8; missing++) {
		begin(true);
		message(SMB_CREATE, 5, 0, 0, 57, 56);
		add_name(108, "name");
		feed_part(CLIENT, 0, length - missing);
		smb_reader.on_gap(&ctx, CLIENT, missing);
		assert_string_equal(log_text, "start create [] []  0 0 -1\n");
		assert_int_equal(all_anomalies, 0);
	}
}

static void
test_gap_over_a_boundary(void **state)
{
	(void)state;
	begin(true);
	message(SMB_ECHO, 5, 0, 0, 4, 4);
	feed_part(CLIENT, 0, 30);
	smb_reader.on_gap(&ctx, CLIENT, 500);
	assert_int_equal(anomalies[ANOMALY_SMB_LOST], 1);
	memset(bytes, 0x55, 100);
	feed_part(CLIENT, 0, 100);
	assert_int_equal(reports, 0);
	message(SMB_ECHO, 6, 0, 0, 4, 4);
	send_message(CLIENT);
	assert_string_equal(log_text, "start echo [] []  0 0 -1\n");
}

static void
test_lengths_that_lie(void **state)
{
	(void)state;
	/* Transport messages that end inside the header or the fixed part. */
	for (uint32_t size = 4; size < 4 + 112; size++) {
		begin(true);
		message(SMB_ECHO, 1, 0, 0, 4, 4);
		send_message(CLIENT);
		message(SMB_WRITE, 5, 0, 0, 49, 48);
		set_length(size);
		send_message(CLIENT);
		assert_int_equal(reports, 1);
		assert_int_equal(all_anomalies, size > 4);
		message(SMB_ECHO, 6, 0, 0, 4, 4);
		send_message(CLIENT);
		assert_int_equal(reports, 2);
	}
	/* A name outside its message, with an odd length, or inside the header. */
	for (unsigned how = 0; how < 3; how++) {
		begin(true);
		message(SMB_CREATE, 5, 0, 0, 57, 56);
		add_name(108, "name");
		put(last + (how == 0 ? 110 : how == 1 ? 110 : 108), how == 0 ? 10 : how == 1 ? 7 : 60, 2);
		send_message(CLIENT);
		assert_int_equal(reports, 0);
		assert_int_equal(anomalies[ANOMALY_SMB_BODY], 1);
	}
}

static void
test_long_path(void **state)
{
	static char path[30001], wanted[256];

	(void)state;
	begin(true);
	memset(path, 'p', sizeof path - 1);
	memset(wanted, 'p', sizeof wanted - 1);
	send_create(1, path);
	assert_int_equal(reports, 1);
	assert_int_equal(all_anomalies, 0);
	assert_string_equal(connection.tables.file[0].path, wanted);
}

static void
test_limits(void **state)
{
	(void)state;
	begin(true);
	for (uint64_t mid = 1; mid <= SMB_REQUESTS_MAX; mid++)
		send_read(mid, 1, 2, 3);
	assert_int_equal(all_anomalies, 0);
	send_read(1000, 1, 2, 3);
	assert_int_equal(anomalies[ANOMALY_SMB_REQUESTS_LIMIT], 1);
	log_text[0] = '\0';
	answer_read(1, 1);
	assert_string_equal(log_text, "done read [] [] STATUS_SUCCESS 1 0 -1\n");
	answer_read(2, 1);
	assert_null(strstr(log_text, "2 -1"));

	begin(true);
	for (uint8_t file = 1; file <= SMB_FILES_MAX; file++)
		open_file(file, "f", file);
	assert_int_equal(all_anomalies, 0);
	send_read(200, 1, 2, 1); /* used lately, so not the one that is forgotten */
	open_file(100, "another", 200);
	assert_int_equal(anomalies[ANOMALY_SMB_FILES_LIMIT], 1);
	log_text[0] = '\0';
	send_read(201, 1, 2, 1);
	send_read(202, 1, 2, 2);
	assert_string_equal(log_text, "start read [] [f]  1 2 -1\nstart read [] []  1 2 -1\n");

	begin(true);
	message(SMB_ECHO, 0, 0, 0, 4, 8);
	for (unsigned i = 1; i < SMB_CHAIN_MAX + 10; i++)
		chain(SMB_ECHO, i, 0, 4, 8);
	send_message(CLIENT);
	assert_int_equal(reports, SMB_CHAIN_MAX);
	assert_int_equal(anomalies[ANOMALY_SMB_CHAIN], 1);
	message(SMB_ECHO, 1000, 0, 0, 4, 4);
	send_message(CLIENT);
	assert_int_equal(reports, SMB_CHAIN_MAX + 1);
}

static void
test_chain_that_lies(void **state)
{
	static const uint32_t offsets[] = {1, 8, 63, 65, 71, 80, 1000, 0xfffffff8};

	(void)state;
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
		begin(true);
		message(SMB_ECHO, 1, 0, 0, 4, 4);
		send_message(CLIENT);
		message(SMB_ECHO, 2, 0, 0, 4, 76);
		put(last + 20, offsets[i], 4);
		send_message(CLIENT);
		assert_int_equal(reports, 1);
		assert_int_equal(anomalies[ANOMALY_SMB_HEADER], 1);
	}
}

static void
test_other_messages(void **state)
{
	(void)state;
	/* Encrypted: the session is known. */
	begin(true);
	message(SMB_ECHO, 1, 0, 0, 4, 100);
	put(last, 0x424d53fd, 4);
	put(last + 44, SESSION, 8);
	send_message(CLIENT);
	send_message(SERVER);
	assert_string_equal(log_text, "start encrypted [] []  0 0 -1\ndone encrypted [] []  0 0 -1\n");
	/* SMB 1, before SMB 2 is negotiated; compressed. */
	begin(true);
	message(SMB_ECHO, 1, 0, 0, 4, 4);
	put(last, 0x424d53ff, 4);
	send_message(CLIENT);
	put(last, 0x424d53fc, 4);
	send_message(CLIENT);
	assert_int_equal(reports, 0);
	assert_int_equal(anomalies[ANOMALY_SMB_VERSION_1], 1);
	assert_int_equal(anomalies[ANOMALY_SMB_COMPRESSED], 1);
	/* The session service of NetBIOS. */
	length = 4 + 68;
	memset(bytes, 0, length);
	bytes[0] = 0x81;
	bytes[3] = 68;
	send_message(CLIENT);
	memset(bytes, 0, length = 4);
	bytes[0] = 0x85;
	send_message(CLIENT);
	message(SMB_ECHO, 1, 0, 0, 4, 4);
	send_message(CLIENT);
	assert_int_equal(reports, 1);
	assert_int_equal(all_anomalies, 2);
	/* From the wrong side. */
	send_message(SERVER);
	response(SMB_ECHO, 1, 0, 4, 4);
	send_message(CLIENT);
	assert_int_equal(reports, 1);
	assert_int_equal(anomalies[ANOMALY_SMB_DIRECTION], 2);
}

static void
test_not_smb(void **state)
{
	static const char other[] = "GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n"
				    "and a text that is longer than the header of a message of SMB is";

	(void)state;
	for (unsigned zero = 0; zero < 2; zero++) {
		begin(true);
		memcpy(bytes, other, length = sizeof other - 1);
		if (zero)
			memcpy(bytes, "\0\0\0\x50", 4);
		send_message(CLIENT);
		assert_int_equal(reports, 0);
		assert_int_equal(anomalies[ANOMALY_SMB_ALIEN], 1);
		assert_false(smb_reader.is_reading(&connection, CLIENT));
		assert_false(smb_reader.is_reading(&connection, SERVER));
	}
}

static void
test_every_byte_damaged(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 4 + 120; at++) {
		for (unsigned value = 0; value < 256; value += 5) {
			begin(true);
			connect_share();
			message(SMB_CREATE, 5, 0, 0, 57, 56);
			add_name(108, "name");
			bytes[at] = (uint8_t)value;
			send_message(CLIENT);
			response(SMB_CREATE, 5, 0, 89, 88);
			bytes[at] = (uint8_t)value;
			send_message(SERVER);
			assert_true(connection.tables.requests <= 2);
		}
	}
}

/* ---------------------------------------------------------------------------------------------------- the channels */

/* A session setup of one round, or of two; `asked` is the session of its first request. */
static void
set_up(uint64_t mid, uint64_t asked, uint8_t flags, bool two_rounds)
{
	uint64_t mine = session;

	session = asked;
	message(SMB_SESSION_SETUP, mid, 0, 0, 25, 24);
	put(last + 66, flags, 1);
	send_message(CLIENT);
	session = mine;
	if (two_rounds) {
		response(SMB_SESSION_SETUP, mid++, SMB_STATUS_MORE_PROCESSING, 9, 8);
		send_message(SERVER);
		message(SMB_SESSION_SETUP, mid, 0, 0, 25, 24);
		put(last + 66, flags, 1);
		send_message(CLIENT);
	}
	response(SMB_SESSION_SETUP, mid, 0, 9, 8);
	send_message(SERVER);
}

#define BINDING 1

/* The first channel, with a share and a file. */
static void
begin_session(void)
{
	begin(true);
	begin_connection(&channels[0], 0, 10, true);
	set_up(1, 0, 0, true);
	connect_share();
	open_file(4, "a", 7);
	log_text[0] = '\0';
}

static void
answer_close(uint64_t mid, uint32_t status)
{
	response(SMB_CLOSE, mid, status, status == 0 ? 60 : 9, status == 0 ? 60 : 8);
	send_message(SERVER);
}

static void
refuse_read(uint64_t mid)
{
	response(SMB_READ, mid, 0xc0000203, 9, 8);
	send_message(SERVER);
}

static void
assert_log(const char *wanted)
{
	assert_string_equal(log_text, wanted);
	log_text[0] = '\0';
}

#define OF_SHARE "[\\\\server\\share] "

/* From whichever address: the names are known from the first request on; what ends or begins on one is so on all. */
static void
test_channel_that_is_bound(void **state)
{
	(void)state;
	for (unsigned rounds = 1; rounds <= 2; rounds++) {
		for (uint8_t client = 10; client <= 11; client++) {
			begin_session();
			begin_connection(&channels[1], 1, client, true);
			set_up(1, session, BINDING, rounds == 2);
			log_text[0] = '\0';
			send_read(3, 1, 2, 7);
			answer_read(3, 1);
			assert_log("start read " OF_SHARE "[a]  1 2 -1\n"
				   "done read " OF_SHARE "[a] STATUS_SUCCESS 1 2 1\n");
			open_file(4, "b", 8);
			log_text[0] = '\0';
			switch_to(&channels[0], 0);
			send_read(5, 1, 2, 8);
			assert_log("start read " OF_SHARE "[b]  1 2 -1\n");
			/* Closed on the channel that has not opened it. */
			send_close(6, 8);
			answer_close(6, 0);
			log_text[0] = '\0';
			answer_read(5, 1);
			assert_log("done read " OF_SHARE "[b] STATUS_SUCCESS 1 2 3\n");
			switch_to(&channels[1], 1);
			send_read(5, 1, 2, 8);
			send_close(6, 7);
			answer_close(6, 0);
			switch_to(&channels[0], 0);
			send_read(7, 1, 2, 7);
			assert_log("start read " OF_SHARE "[]  1 2 -1\n"
				   "start close " OF_SHARE "[a]  0 0 -1\n"
				   "done close " OF_SHARE "[a] STATUS_SUCCESS 0 0 1\n"
				   "start read " OF_SHARE "[]  1 2 -1\n");
			message(SMB_TREE_DISCONNECT, 8, 0, 0, 4, 4);
			send_message(CLIENT);
			response(SMB_TREE_DISCONNECT, 8, 0, 4, 4);
			send_message(SERVER);
			log_text[0] = '\0';
			switch_to(&channels[1], 1);
			send_read(8, 1, 2, 8);
			assert_log("start read [] []  1 2 -1\n");
			assert_int_equal(all_anomalies, 0);
		}
	}
}

/* A file is closed on one channel, and its id used again on the other. */
static void
test_id_that_is_used_again_on_another_channel(void **state)
{
	(void)state;
	begin_session();
	begin_connection(&channels[1], 1, 10, true);
	set_up(1, session, BINDING, true);
	send_read(3, 1, 2, 7);
	open_file(4, "new", 7);
	switch_to(&channels[0], 0);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read " OF_SHARE "[new]  1 2 -1\n");
	/* The close of the old one, whose answer comes late, does not end the new one. */
	send_close(6, 7);
	switch_to(&channels[1], 1);
	open_file(7, "newer", 7);
	switch_to(&channels[0], 0);
	answer_close(6, 0);
	log_text[0] = '\0';
	send_read(8, 1, 2, 7);
	assert_log("start read " OF_SHARE "[newer]  1 2 -1\n");
	assert_int_equal(all_anomalies, 0);
}

/* A session id proves nothing: neither names nor ends of another client's session, whatever the server refuses. */
static void
test_foreign_host(void **state)
{
	(void)state;
	for (unsigned beginning = 0; beginning < 2; beginning++) {
		begin_session();
		begin_connection(&channels[1], 1, 66, beginning);
		message(SMB_SESSION_SETUP, 1, 0, 0, 25, 24);
		put(last + 66, BINDING, 1);
		send_message(CLIENT);
		response(SMB_SESSION_SETUP, 1, 0xc0000022, 9, 8);
		send_message(SERVER);
		message(SMB_ECHO, 2, 0, 0, 4, 4);
		send_message(CLIENT);
		response(SMB_ECHO, 2, 0, 4, 4);
		send_message(SERVER);
		log_text[0] = '\0';
		send_read(3, 1, 2, 7);
		refuse_read(3);
		send_close(4, 7);
		answer_close(4, 0xc0000203);
		assert_log("start read [] []  1 2 -1\ndone read [] [] STATUS_USER_SESSION_DELETED 0 2 1\n"
			   "start close [] []  0 0 -1\ndone close [] [] STATUS_USER_SESSION_DELETED 0 0 1\n");
		message(SMB_LOGOFF, 5, 0, 0, 4, 4);
		send_message(CLIENT);
		response(SMB_LOGOFF, 5, 0xc0000203, 9, 8);
		send_message(SERVER);
		/* Two requests with one id: the server answers that of the client's own session. */
		send_read(6, 1, 2, 7);
		session = 77;
		answer_read(6, 1);
		session = SESSION;
		log_text[0] = '\0';
		send_read(7, 1, 2, 7);
		assert_log("start read [] []  1 2 -1\n");
		/* Names that it asks for do not displace any. */
		for (uint64_t mid = 100; mid < 200; mid++) {
			send_create(mid, "evil");
			response(SMB_CREATE, mid, 0xc0000203, 9, 8);
			send_message(SERVER);
		}
		log_text[0] = '\0';
		switch_to(&channels[0], 0);
		send_read(8, 1, 2, 7);
		assert_log("start read " OF_SHARE "[a]  1 2 -1\n");
	}
}

/* Without its setup, the first answer of the server proves that a connection is a channel, and has the names. */
static void
test_channel_whose_setup_was_not_captured(void **state)
{
	(void)state;
	for (uint8_t client = 10; client <= 11; client++) {
		begin_session();
		begin_connection(&channels[1], 1, client, false);
		send_read(3, 1, 2, 7);
		send_read(4, 1, 2, 7);
		refuse_read(4);
		answer_read(3, 1);
		send_read(5, 1, 2, 7);
		assert_log("start read [] []  1 2 -1\nstart read [] []  1 2 -1\n"
			   "done read [] [] STATUS_USER_SESSION_DELETED 0 2 1\n"
			   "done read " OF_SHARE "[a] STATUS_SUCCESS 1 2 3\nstart read " OF_SHARE "[a]  1 2 -1\n");
	}
	/* Of a connection that was read from its beginning the setup is missing: is the session the same one? */
	begin_session();
	begin_connection(&channels[1], 1, 11, true);
	send_read(3, 1, 2, 7);
	answer_read(3, 1);
	assert_log("start read [] []  1 2 -1\ndone read [] [] STATUS_SUCCESS 1 2 1\n");
	/* What was opened after the request is not what it is about. */
	begin_session();
	begin_connection(&channels[1], 1, 10, false);
	send_read(3, 1, 2, 8);
	switch_to(&channels[0], 0);
	open_file(5, "b", 8);
	switch_to(&channels[1], 1);
	log_text[0] = '\0';
	answer_read(3, 1);
	assert_non_null(strstr(log_text, "done read " OF_SHARE "[] STATUS_SUCCESS"));
	/* The server closes a file: that is proof, too. */
	send_close(4, 8);
	answer_close(4, 0);
	switch_to(&channels[0], 0);
	log_text[0] = '\0';
	send_read(6, 1, 2, 8);
	assert_log("start read " OF_SHARE "[]  1 2 -1\n");
}

static void
test_end_of_a_session(void **state)
{
	(void)state;
	/* Logoff on the other channel. */
	begin_session();
	begin_connection(&channels[1], 1, 11, true);
	set_up(1, session, BINDING, true);
	message(SMB_LOGOFF, 3, 0, 0, 4, 4);
	send_message(CLIENT);
	response(SMB_LOGOFF, 3, 0, 4, 4);
	send_message(SERVER);
	switch_to(&channels[0], 0);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read [] []  1 2 -1\n");

	/* The server uses the id again, for another client; the first setup, the last or a session with one round. */
	for (unsigned how = 0; how < 3; how++) {
		begin_session();
		begin_connection(&channels[1], 1, 11, true);
		if (how == 2) {
			message(SMB_SESSION_SETUP, 2, 0, 0, 25, 24);
			send_message(CLIENT);
			response(SMB_SESSION_SETUP, 2, 0, 9, 8);
			send_message(SERVER);
		} else {
			set_up(1, 0, 0, how == 1);
		}
		log_text[0] = '\0';
		send_read(5, 1, 2, 7);
		switch_to(&channels[0], 0);
		send_read(5, 1, 2, 7);
		assert_log("start read [] []  1 2 -1\nstart read [] []  1 2 -1\n");
	}

	/* Authenticated again on a channel: the same session. */
	begin_session();
	begin_connection(&channels[1], 1, 11, true);
	set_up(1, session, BINDING, true);
	set_up(3, session, 0, true);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read " OF_SHARE "[a]  1 2 -1\n");

	/* The first channel ends: the other one has the names.  Both end: nobody has. */
	smb_reader.on_end(&ctx, CLIENT);
	smb_reader.on_end(&ctx, SERVER);
	begin_connection(&channels[2], 2, 10, false);
	send_read(5, 1, 2, 7);
	answer_read(5, 1);
	assert_non_null(strstr(log_text, "done read " OF_SHARE "[a]"));
	switch_to(&channels[0], 0);
	smb_reader.on_end(&ctx, CLIENT);
	smb_reader.on_end(&ctx, SERVER);
	switch_to(&channels[2], 2);
	smb_reader.on_end(&ctx, CLIENT);
	smb_reader.on_end(&ctx, SERVER);
	begin_connection(&connection, CHANNELS, 10, false);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	answer_read(5, 1);
	assert_log("start read [] []  1 2 -1\ndone read [] [] STATUS_SUCCESS 1 2 1\n");
}

/* The same id on another server, port or in another tunnel is another session. */
static void
test_session_of_another_server(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 3; how++) {
		begin_session();
		begin_connection(&channels[1], 1, 10, false);
		flows[1].key.addr[SERVER][3] = (uint8_t)(how == 0 ? 2 : 1);
		flows[1].key.port[SERVER] = how == 1 ? 139 : 445;
		flows[1].key.address_space = how == 2;
		send_read(3, 1, 2, 7);
		answer_read(3, 1);
		set_up(4, session, BINDING, true);
		log_text[0] = '\0';
		send_read(6, 1, 2, 7);
		assert_log("start read [] []  1 2 -1\n");
	}
}

/* The memory of a channel is another connection's. */
static void
test_channel_whose_memory_is_used_again(void **state)
{
	(void)state;
	begin_session();
	begin_connection(&channels[1], 1, 10, true);
	set_up(1, session, BINDING, true);
	begin_connection(&channels[0], 2, 66, true);
	session = 5;
	set_up(1, 0, 0, true);
	connect_share();
	open_file(4, "foreign", 7);
	switch_to(&channels[1], 1);
	session = SESSION;
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read " OF_SHARE "[]  1 2 -1\n");
}

/* More sessions than are known: the one that has not been used for longest has no names any more. */
static void
test_sessions_limit(void **state)
{
	(void)state;
	begin_session();
	begin_connection(&channels[1], 1, 10, true);
	for (unsigned i = 1; i < SMB_SESSIONS_MAX; i++) {
		session = i;
		set_up(2 * i, 0, 0, true);
		log_text[0] = '\0';
	}
	assert_int_equal(all_anomalies, 0);
	session = SMB_SESSIONS_MAX;
	set_up(2 * SMB_SESSIONS_MAX, 0, 0, true);
	assert_int_equal(anomalies[ANOMALY_SMB_FILES_LIMIT], 1);
	session = SESSION;
	switch_to(&channels[0], 0);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read [] []  1 2 -1\n");
	/* Channels. */
	begin_session();
	for (unsigned i = 0; i < SMB_CHANNELS_MAX; i++) {
		static struct smb_connection many[SMB_CHANNELS_MAX];

		begin_connection(&many[i], 1, 10, true);
		ctx.cid = many[i].cid = 1000 + i;
		assert_int_equal(anomalies[ANOMALY_SMB_FILES_LIMIT], 0);
		set_up(1, session, BINDING, true);
	}
	assert_int_equal(anomalies[ANOMALY_SMB_FILES_LIMIT], 1);
	log_text[0] = '\0';
	send_read(5, 1, 2, 7);
	assert_log("start read [] []  1 2 -1\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_state_is_bounded),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_names_fit_their_fields),
	    cmocka_unit_test(test_session_split_at_every_place),
	    cmocka_unit_test(test_chain),
	    cmocka_unit_test(test_requests_beyond_the_end_of_a_file),
	    cmocka_unit_test(test_asynchronous_response),
	    cmocka_unit_test(test_response_without_its_request),
	    cmocka_unit_test(test_refused_files_and_shares_are_forgotten),
	    cmocka_unit_test(test_ids_that_are_used_again),
	    cmocka_unit_test(test_chain_with_a_damaged_message),
	    cmocka_unit_test(test_notification_of_the_server),
	    cmocka_unit_test(test_gap_at_every_place),
	    cmocka_unit_test(test_path_cut_by_the_capture),
	    cmocka_unit_test(test_gap_over_a_boundary),
	    cmocka_unit_test(test_lengths_that_lie),
	    cmocka_unit_test(test_long_path),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_chain_that_lies),
	    cmocka_unit_test(test_other_messages),
	    cmocka_unit_test(test_not_smb),
	    cmocka_unit_test(test_every_byte_damaged),
	    cmocka_unit_test(test_channel_that_is_bound),
	    cmocka_unit_test(test_id_that_is_used_again_on_another_channel),
	    cmocka_unit_test(test_foreign_host),
	    cmocka_unit_test(test_channel_whose_setup_was_not_captured),
	    cmocka_unit_test(test_end_of_a_session),
	    cmocka_unit_test(test_session_of_another_server),
	    cmocka_unit_test(test_channel_whose_memory_is_used_again),
	    cmocka_unit_test(test_sessions_limit),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	smb_reader.close(sessions);
	return failed;
}
