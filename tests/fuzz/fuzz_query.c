/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a request on the control socket or to the metrics server, through the servers' own sockets.  The first
 * byte selects the server, how the bytes are split, and whether a reload succeeds; the second is the length of an
 * interface name, which follows; the rest is sent.  A reply is one error of one line, or what was requested: JSON,
 * plain text, a capture that libpcap reads, or a page in Prometheus' format in which no series occurs twice.  Whether
 * the control socket accepts a request is known in advance from the request itself.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "config/options.h"
#include "daemon/formula_sites.h"
#include "daemon/metrics/metrics.h"
#include "daemon/query/control.h"
#include "daemon/query/control_request.h"
#include "daemon/query/server.h"
#include "daemon/query/service_table.h"
#include "flight/ring.h"
#include "formulas/formula.h"
#include "records/record_filter.h"
#include "records/record_ring.h"
#include "tests/fuzz/fuzz_must.h"
#include "tests/lib/json_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REPLY_MAX (1u << 20)

/* Frames of the capture, and the ids of endpoints: two of each connection.  The SCTP packet begins no association. */
#define FRAMES	  5u
#define ENDPOINTS 8u

/* The formula that is defined before each input. */
#define FORMULA "known"

/* How the first byte is read. */
enum { HTTP = 1, SPLIT = 2, RELOADS = 4 };

static struct config config;
static struct loop *loop;
static struct workers *workers;
static struct control *control;
static struct metrics *metrics;
static struct formula_sites *formulas;
static struct query_context query;
static const struct connrec ended = {.cr_client = "192.0.2.1", .cr_server = "192.0.2.80", .cr_reason = "fin"};
static char directory[] = "/tmp/netobs-fuzz-XXXXXX", control_path[64], metrics_address[64];
static const char *capture_paths[2], *interface_names[] = {NULL, NULL, NULL};
static struct interface interfaces[2];
static bool reloads;
static char reply[REPLY_MAX + 1];
static size_t reply_length;

/* Replaces base/log.c. */
void
log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

uint64_t
log_dropped(void)
{
	return 0;
}

void
log_write_lines(const char *lines)
{
	(void)lines;
}

/* ------------------------------------------------------------------------------------------- what is queried */

static void
put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

/* Writes a capture file of some connections: IPv4 without checksums, TCP, UDP and SCTP. */
static void
make_capture(int fd)
{
	static const uint8_t protocols[FRAMES] = {6, 6, 17, 17, 132};
	static const uint16_t version[2] = {2, 4};
	uint8_t bytes[24 + FRAMES * (16 + 40)] = {0}, *at = bytes + 24;

	put32(bytes, 0xa1b2c3d4);
	memcpy(bytes + 4, version, sizeof version);
	put32(bytes + 16, 65535);
	put32(bytes + 20, 101); /* LINKTYPE_RAW */
	for (unsigned i = 0; i < FRAMES; i++, at += 16 + 40) {
		uint8_t *ip = at + 16;

		put32(at, 1700000000);
		put32(at + 4, i);
		put32(at + 8, 40);
		put32(at + 12, 40);
		memcpy(ip, (const uint8_t[]){0x45, 0, 0, 40, 0, 1, 0, 0, 64, protocols[i]}, 10);
		memcpy(ip + 12, (const uint8_t[]){10, 0, 0, 1, 10, 0, 0, 2}, 8);
		memcpy(ip + 20, (const uint8_t[]){0x30, (uint8_t)i, 0, 80, 0, 0, 0, 1}, 8);
		if (protocols[i] == 6)
			memcpy(ip + 32, (const uint8_t[]){0x50, 2, 1, 0}, 4);
		else if (protocols[i] == 17)
			ip[24] = 0, ip[25] = 20;
	}
	must(write(fd, bytes, sizeof bytes) == sizeof bytes);
}

static void
visit_interfaces(struct input *input, input_visitor *visit, void *context)
{
	(void)input;
	for (unsigned i = 0; i < 2; i++) {
		const struct input_interface observed = {.interface = &interfaces[i], .link_type = DLT_EN10MB};

		visit(context, &observed);
	}
}

static bool
reload(void *context, char *error, size_t size)
{
	(void)context;
	snprintf(error, size, "%s: no such file", interfaces[0].name);
	return reloads;
}

static bool
define_formula(void *context, const char *text, char *error, size_t size)
{
	(void)context;
	return formula_sites_define(formulas, text, error, size);
}

static bool
undefine_formula(void *context, const char *name, char *error, size_t size)
{
	(void)context;
	snprintf(error, size, "there is no formula \"%.60s\"", name);
	return formula_sites_undefine(formulas, name);
}

static void
update_sites(void *context)
{
	(void)context;
	formula_sites_read_names(formulas);
	formula_sites_update(formulas);
}

static bool
describe_site(void *context, unsigned slot, const char **name, bool *traced)
{
	(void)context;
	return formula_sites_describe(formulas, slot, name, traced);
}

/* Removes all formulas, and defines the one that each input finds. */
static void
reset_formulas(void)
{
	char error[512];

	while (formula_set_count(query.formulas) > 0)
		must(formula_sites_undefine(formulas, formula_name(formula_set_status(query.formulas, 0).formula)));
	must(formula_sites_define(formulas, FORMULA " = tcp-send where tcp_dport == 80, 3 times in 1s", error,
				  sizeof error));
}

static void
clean_up(void)
{
	unlink(control_path);
	unlink(metrics_address + strlen("unix:"));
	rmdir(directory);
}

static void
prepare(void)
{
	static bool selected[PROBE_COUNT];
	static struct input_ops with_interfaces;
	static char path[32];
	int fd = memfd_create("capture", 0);

	make_capture(fd);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	must(config_set_defaults(&config) && mkdtemp(directory) != NULL);
	snprintf(control_path, sizeof control_path, "%s/control", directory);
	snprintf(metrics_address, sizeof metrics_address, "unix:%s/metrics", directory);
	atexit(clean_up);
	free(config.capture_paths);
	free(config.interface_names);
	capture_paths[0] = path;
	config.capture_paths = capture_paths;
	config.interface_names = interface_names;
	config.control_path = control_path;
	config.metrics_address = metrics_address;
	config.flow_limits.flows = 64;
	config.flight_memory = RING_MEMORY_MIN;
	loop = loop_new();
	must(loop != NULL);
	workers = workers_open(&config, loop, false, 0);
	formulas = formula_sites_open(&config);
	must(workers != NULL && formulas != NULL);
	must(workers_start_inputs(workers) && workers_make_observers(workers, selected));
	formula_sites_connect(formulas, workers);
	must(workers_run(workers) == INPUT_DONE);
	with_interfaces = *workers->worker[0].input->ops;
	with_interfaces.visit = visit_interfaces;
	interface_names[0] = interface_names[1] = "";
	workers->worker[0].input->ops = &with_interfaces;
	query = (struct query_context){.config = &config,
				       .workers = workers,
				       .reload = reload,
				       .formulas = formula_sites_set(formulas),
				       .define_formula = define_formula,
				       .undefine_formula = undefine_formula,
				       .update_sites = update_sites,
				       .describe_site = describe_site};
	query.closed = record_ring_new(4);
	must(query.closed != NULL);
	record_ring_take(query.closed, &ended);
	query.services = service_table_new();
	must(query.services != NULL);
	service_table_take(query.services, &ended);
	build_id_read(&query.build);
	control = control_open(&config, geteuid());
	metrics = metrics_open(&config, geteuid());
	must(control != NULL && metrics != NULL);
	must(control_serve(control, loop, &query) && metrics_serve(metrics, loop, &query));
}

/* ------------------------------------------------------------------------------------------------- the client */

static int
connect_client(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	must(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
	return fd;
}

/* The server may have closed the connection. */
static void
send_bytes(int fd, const uint8_t *bytes, size_t size)
{
	if (size > 0)
		(void)!send(fd, bytes, size, MSG_NOSIGNAL);
}

/* Reads until the server closes.  False if it may have closed because this process did not run for a second. */
static bool
converse(const char *path, const uint8_t *bytes, size_t size, bool split)
{
	int fd = connect_client(path);
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	uint64_t start = clock_monotonic_ns();
	ssize_t got = -1;

	reply_length = 0;
	send_bytes(fd, bytes, split ? size / 2 : 0);
	if (split)
		loop_poll(loop);
	send_bytes(fd, bytes + (split ? size / 2 : 0), size - (split ? size / 2 : 0));
	must(shutdown(fd, SHUT_WR) == 0);
	do {
		loop_poll(loop);
		if (poll(&readable, 1, 0) <= 0)
			continue;
		got = recv(fd, reply + reply_length, REPLY_MAX - reply_length, 0);
		if (got > 0)
			reply_length += (size_t)got;
		must(reply_length < REPLY_MAX);
	} while (got > 0 || poll(&readable, 1, 0) == 0);
	close(fd);
	loop_poll(loop);
	reply[reply_length] = '\0';
	return clock_monotonic_ns() - start < 1000000000;
}

/* ------------------------------------------------------------------------------------------------- the replies */

static void
check_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		must((text[i] >= ' ' && text[i] <= '~') || text[i] == '\n');
}

/* JSON may have characters of any script, except those that a terminal executes or hides. */
static void
check_json_lines(const char *text)
{
	static char clean[6 * REPLY_MAX + 8];
	size_t length = strlen(text), where;

	must((size_t)(put_foreign_lines(clean, text, length) - clean) == length && memcmp(clean, text, length) == 0);
	while (*text != '\0') {
		const char *end = strchr(text, '\n');

		must(end != NULL && *text == '{' && json_check(text, (size_t)(end - text), &where));
		text = end + 1;
	}
}

/* Whether the bytes are a request; `*request` is what it says. */
static bool
is_request(const uint8_t *bytes, size_t size, struct control_request *request)
{
	static char line[SERVER_REQUEST_MAX + 1]; /* the request refers to it */
	const uint8_t *end = size > 0 ? memchr(bytes, '\n', size) : NULL;
	char error[256];

	if (end == NULL || end - bytes >= SERVER_REQUEST_MAX)
		return false;
	for (const uint8_t *at = bytes; at < end; at++)
		if ((*at < ' ' && *at != '\t' && *at != '\r') || *at > '~')
			return false;
	memcpy(line, bytes, (size_t)(end - bytes));
	line[end - bytes] = '\0';
	return control_request_parse(line, request, error, sizeof error);
}

static bool
is_expression(const char *text)
{
	char mistake[RECORD_ERROR_MAX];
	struct record_filter *filter = record_filter_compile(text, mistake);

	record_filter_free(filter);
	return filter != NULL;
}

static bool
is_new_definition(const char *text)
{
	struct formula_error error;
	struct formula *formula = formula_compile(text, &error);
	bool is_new = formula != NULL && strcmp(formula_name(formula), FORMULA) != 0;

	formula_free(formula);
	return is_new;
}

/* Whether a request is accepted. */
enum verdict { REFUSED, ACCEPTED, EITHER };

static enum verdict
verdict_if(bool accepted)
{
	return accepted ? ACCEPTED : REFUSED;
}

/* No default: the compiler names a command that is missing. */
static enum verdict
expected_verdict(const struct control_request *request)
{
	switch (request->command) {
	case REQUEST_STATUS:
	case REQUEST_PROBES:
	case REQUEST_INTERFACES:
	case REQUEST_COUNTERS:
	case REQUEST_DEBUG:
	case REQUEST_SITES:
		return ACCEPTED;
	case REQUEST_CONNECTIONS:
		if (request->operand != NULL && !is_expression(request->operand))
			return REFUSED;
		return request->fields == NULL ? ACCEPTED : EITHER;
	case REQUEST_RELOAD:
		return verdict_if(reloads);
	case REQUEST_FORMULAS:
		return verdict_if(request->operand == NULL || strcmp(request->operand, FORMULA) == 0);
	case REQUEST_DEFINE:
		return verdict_if(is_new_definition(request->operand));
	case REQUEST_UNDEFINE:
		return verdict_if(strcmp(request->operand, FORMULA) == 0);
	case REQUEST_STREAM:
		return request->operand == NULL && request->fields == NULL ? ACCEPTED : EITHER;
	case REQUEST_WRITE: /* snoop has no link type for the frames */
		return request->operand == NULL && request->format != CAPTURE_SNOOP ? ACCEPTED : EITHER;
	case REQUEST_COMMANDS:
		break;
	}
	abort();
}

/* Checks that a capture has this number of frames. */
static void
check_capture(char *bytes, size_t size, unsigned long long count)
{
	char error[PCAP_ERRBUF_SIZE];
	FILE *stream = fmemopen(bytes, size, "r");
	pcap_t *capture = pcap_fopen_offline(stream, error);
	struct pcap_pkthdr *header;
	const u_char *data;

	must(capture != NULL);
	for (; count > 0; count--)
		must(pcap_next_ex(capture, &header, &data) == 1);
	must(pcap_next_ex(capture, &header, &data) == PCAP_ERROR_BREAK);
	pcap_close(capture);
}

/* Chunks, and a line of JSON that counts what was in them; or the reason why there is no capture. */
static void
check_write(const struct control_request *request)
{
	static char capture[REPLY_MAX];
	unsigned long long frames, bytes;
	size_t at = 3, used = 0, where;
	uint32_t length;

	for (;; at += length) {
		must(reply_length - at > sizeof length);
		memcpy(&length, reply + at, sizeof length);
		length = ntohl(length);
		at += sizeof length;
		if (length == 0 || length == UINT32_MAX)
			break;
		must(length < reply_length - at);
		memcpy(capture + used, reply + at, length);
		used += length;
	}
	must(strlen(reply + at) == reply_length - at);
	check_plain(reply + at, reply_length - at);
	must(strchr(reply + at, '\n') == reply + reply_length - 1);
	if (length == UINT32_MAX) {
		must(request->cid != 0 || request->operand != NULL);
		return;
	}
	must(json_check(reply + at, reply_length - at - 1, &where));
	must(sscanf(reply + at, "{\"frames\":%llu,\"bytes\":%llu,", &frames, &bytes) == 2);
	must(frames <= FRAMES && bytes == used);
	if (request->operand == NULL && request->cid == 0)
		must(frames == FRAMES);
	if (request->format != CAPTURE_SNOOP)
		check_capture(capture, used, frames);
}

static void
check_text(const struct control_request *request)
{
	must(reply[reply_length - 1] == '\n');
	check_json_lines(reply + 3);
	if (request->command == REQUEST_STREAM || request->command == REQUEST_UNDEFINE)
		must(reply_length == 3); /* nothing fires, and nothing is left */
}

static void
check_control(const uint8_t *bytes, size_t size)
{
	struct control_request request;
	bool good = strncmp(reply, "ok\n", 3) == 0;
	enum verdict expected = is_request(bytes, size, &request) ? expected_verdict(&request) : REFUSED;

	must(expected == EITHER || expected == verdict_if(good));
	if (!good) {
		must(strlen(reply) == reply_length);
		check_plain(reply, reply_length);
		must(reply_length == 0 || strncmp(reply, "error ", 6) == 0 || strncmp(reply, "denied ", 7) == 0);
		must(reply_length == 0 || strchr(reply, '\n') == reply + reply_length - 1);
	} else if (request.command == REQUEST_WRITE && request.link_types) {
		must(strlen(reply) == reply_length);
		check_json_lines(reply + 3);
	} else if (request.command == REQUEST_WRITE) {
		check_write(&request);
	} else {
		must(strlen(reply) == reply_length);
		check_text(&request);
	}
}

/* A decimal number, with or without a fraction. */
static bool
is_number(const char *at, const char *end)
{
	size_t digits = strspn(at, "0123456789"), fraction;

	if (digits == 0 || at + digits == end)
		return digits != 0;
	fraction = strspn(at + digits + 1, "0123456789");
	return at[digits] == '.' && fraction != 0 && at + digits + 1 + fraction == end;
}

/* A sample: NAME{LABEL="VALUE"} NUMBER, the value with backslash and quote escaped.  Gives the end of the series. */
static const char *
check_sample(const char *at, const char *end)
{
	must(strncmp(at, "netobs_", 7) == 0);
	at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
	if (*at == '{') {
		while (at < end && *at != '}') {
			at += strcspn(at, "\"") + 1;
			while (at < end && *at != '"')
				at += 1 + (*at == '\\');
			at++;
			must(at < end && (*at == ',' || *at == '}'));
		}
		at++;
	}
	must(at[0] == ' ' && is_number(at + 1, end));
	return at;
}

static void
check_page(const char *page)
{
	unsigned series = 0;

	for (const char *at = page, *end; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		must(end != NULL);
		if (*at == '#') {
			must(strncmp(at, "# HELP netobs_", 14) == 0 || strncmp(at, "# TYPE netobs_", 14) == 0);
			continue;
		}
		series++;
		size_t length = (size_t)(check_sample(at, end) - at);

		/* The names of the two interfaces are different; other series are constant. */
		if (strncmp(at, "netobs_interface_up{", 20) == 0 && end[1] == 'n')
			must(strncmp(at, end + 1, length + 1) != 0);
	}
	must(series > 100);
}

/* The page for a browser, the connections, or the metrics. */
static void
check_body(const char *body)
{
	static const char begin[] = "<!DOCTYPE html>", end[] = "</html>\n";

	if (strncmp(body, begin, sizeof begin - 1) == 0) {
		must(strcmp(body + strlen(body) - (sizeof end - 1), end) == 0);
	} else if (strncmp(body, "{\"time\":", 8) == 0) {
		check_plain(body, strlen(body));
		check_json_lines(body);
	} else {
		check_page(body);
	}
}

static void
check_http(void)
{
	const char *body = strstr(reply, "\r\n\r\n");

	must(strlen(reply) == reply_length);
	if (reply_length == 0)
		return;
	must(strncmp(reply, "HTTP/1.1 ", 9) == 0 && body != NULL);
	for (const char *at = reply; at < body; at++)
		must((*at >= ' ' && *at <= '~') || *at == '\r' || *at == '\n');
	if (strncmp(reply + 9, "200 ", 4) == 0 && body[4] != '\0')
		check_body(body + 4);
	else
		must(body[4] == '\0' && strchr("24", reply[9]) != NULL);
}

/* ---------------------------------------------------------------------------------------------------- an input */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length;

	if (workers == NULL)
		prepare();
	if (size < 2 || size > 2 + 15 + 2 * SERVER_REQUEST_MAX)
		return 0;
	length = data[1] % sizeof interfaces[0].name;
	if (length > size - 2)
		length = size - 2;
	memset(interfaces[0].name, 0, sizeof interfaces[0].name);
	memcpy(interfaces[0].name, data + 2, length);
	memcpy(interfaces[1].name, interfaces[0].name, sizeof interfaces[0].name);
	interfaces[1].name[0] = (char)(interfaces[0].name[0] ^ 1); /* another name */
	log_debug_enable(0);
	reset_formulas();
	reloads = (data[0] & RELOADS) != 0;
	if (!converse((data[0] & HTTP) != 0 ? metrics_address + strlen("unix:") : control_path, data + 2 + length,
		      size - 2 - length, (data[0] & SPLIT) != 0))
		return 0;
	if ((data[0] & HTTP) != 0)
		check_http();
	else
		check_control(data + 2 + length, size - 2 - length);
	return 0;
}
