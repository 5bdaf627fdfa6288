/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP: lines, fields, bodies, pairing of requests and responses, gaps, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/apps/http/http_fixture.h"

static struct http_fixture fixture, *s = &fixture;

static int
begin(void **state)
{
	(void)state;
	http_fixture_setup(s);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&s->tcp);
	return 0;
}

static void
send_text(unsigned from, const char *text)
{
	tcp_fixture_feed(&s->tcp, from, text, (uint32_t)strlen(text));
}

static void
clear_trace(void)
{
	s->length = 0;
	s->trace[0] = '\0';
	memset(s->anomalies, 0, sizeof s->anomalies);
}

/* Asserts that exactly these anomalies were reported: a list that ends with ANOMALY_NONE. */
static void
assert_anomalies(const enum anomaly *expected)
{
	unsigned want[ANOMALY_COUNT] = {0};

	for (; *expected != ANOMALY_NONE; expected++)
		want[*expected]++;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++)
		if (s->anomalies[a] != want[a])
			fail_msg("%s: %u, not %u", anomaly_name((enum anomaly)a), s->anomalies[a], want[a]);
}

#define ASSERT_ODD(...) assert_anomalies((const enum anomaly[]){__VA_ARGS__ ANOMALY_NONE})

#define H		"Host: a.example\r\n"
#define GET(uri)	"GET " uri " HTTP/1.1\r\n" H "\r\n"
#define OK(body_length) "HTTP/1.1 200 OK\r\nContent-Length: " #body_length "\r\n\r\n"

/* One request and one response on a connection of their own. */
static void
exchange(const char *request, const char *response)
{
	clear_trace();
	s->tcp.port[CLIENT]++;
	tcp_fixture_handshake(&s->tcp);
	send_text(CLIENT, request);
	send_text(SERVER, response);
}

/* --- lines and fields --- */

static struct http_line
line_of(const char *text, uint32_t head)
{
	uint32_t length = (uint32_t)strlen(text), tail = length < HTTP_TAIL_MAX ? length : HTTP_TAIL_MAX;

	return (struct http_line){{(const uint8_t *)text, length < head ? length : head},
				  {(const uint8_t *)text + length - tail, tail},
				  length};
}

static void
test_request_lines(void **state)
{
	static const char *const good[] = {"GET / HTTP/1.1", "M-SEARCH * HTTP/1.0", "get  HTTP/1.1", "X / HTTP/1.9"};
	static const char *const bad[] = {"",
					  "GET",
					  "GET /",
					  "GET / HTTP/2.0",
					  "GET / HTTP/1.",
					  "GET /HTTP/1.1",
					  " GET / HTTP/1.1",
					  "GET\t/ HTTP/1.1",
					  "G(T / HTTP/1.1",
					  "GET HTTP/1.1",
					  "GET / HTTP/1.1 ",
					  "GET / http/1.1",
					  "AMETHODOFTHIRTYTHREEBYTESISNOMORE / HTTP/1.1"};
	struct http_request_line request;
	char longest[2000];

	(void)state;
	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct http_line line = line_of(good[i], 272);

		assert_true(http_parse_request_line(&line, &request));
	}
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct http_line line = line_of(bad[i], 272);

		if (http_parse_request_line(&line, &request))
			fail_msg("accepted: %s", bad[i]);
	}
	for (unsigned target = 0; target < 1900; target++) {
		struct http_line line;

		snprintf(longest, sizeof longest, "GET %0*d HTTP/1.1", (int)target, 0);
		if (target == 0)
			snprintf(longest, sizeof longest, "GET  HTTP/1.1");
		line = line_of(longest, 272);
		assert_true(http_parse_request_line(&line, &request));
		assert_int_equal(request.target_length, target);
		assert_int_equal(request.target.len, target < 255 ? target : 255);
		assert_int_equal(request.odd_target, target == 0);
	}
}

static void
test_status_lines(void **state)
{
	static const char *const good[] = {"HTTP/1.1 200 OK", "HTTP/1.0 404", "HTTP/1.1 999 ", "HTTP/1.1 200 "};
	static const char *const bad[] = {"HTTP/1.1",	     "HTTP/1.1 20",	"HTTP/1.1 2000 ",
					  "HTTP/2.0 200 OK", "ICY 200 OK",	"HTTP/1.1  200 OK",
					  "HTTP/1.1 099 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 200OK"};
	struct http_status_line status;

	(void)state;
	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct http_line line = line_of(good[i], 64);

		assert_true(http_parse_status_line(&line, &status));
	}
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct http_line line = line_of(bad[i], 64);

		if (http_parse_status_line(&line, &status))
			fail_msg("accepted: %s", bad[i]);
	}
}

static struct http_framing
framing_of(const char *first, const char *second)
{
	const char *both[] = {first, second};
	struct http_framing framing = {0};

	for (unsigned i = 0; i < 2 && both[i] != NULL; i++) {
		struct http_line line = line_of(both[i], 64);
		struct http_field_line field;

		http_parse_field(&line, &field);
		if (field.field == HTTP_FIELD_LENGTH)
			http_add_length(&framing, &field);
		if (field.field == HTTP_FIELD_ENCODING)
			http_add_encoding(&framing, &field);
	}
	return framing;
}

static void
test_lengths(void **state)
{
	static const char *const bad[] = {"Content-Length:",
					  "Content-Length: x",
					  "Content-Length: -1",
					  "Content-Length: 1 2",
					  "Content-Length: 1,2",
					  "Content-Length: 1,",
					  "Content-Length: ,1",
					  "Content-Length: 0x10",
					  "Content-Length: 18446744073709551616",
					  "Content-Length: 00000000000000000000000000000000000000000000000000001"};

	(void)state;
	assert_int_equal(framing_of("Content-Length: 42", NULL).length, 42);
	assert_int_equal(framing_of("content-LENGTH:\t 7 \t", NULL).length, 7);
	assert_true(framing_of("Content-Length: 18446744073709551615", NULL).length == UINT64_MAX);
	assert_false(framing_of("Content-Length: 3, 3,3", "Content-Length: 3").bad_length);
	assert_true(framing_of("Content-Length: 3", "Content-Length: 4").bad_length);
	assert_false(framing_of("Content-Lengths: 3", NULL).has_length);
	/* A trailing comma is an empty element, which RFC 9110 section 5.6.1 has recipients ignore in lists only. */
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (i != 5 && !framing_of(bad[i], NULL).bad_length)
			fail_msg("accepted: %s", bad[i]);
	assert_true(framing_of("Transfer-Encoding: chunked", NULL).chunked);
	assert_true(framing_of("Transfer-Encoding: gzip, Chunked", NULL).chunked);
	assert_true(framing_of("Transfer-Encoding: gzip", "Transfer-Encoding: chunked").chunked);
	assert_false(framing_of("Transfer-Encoding: chunked, gzip", NULL).chunked);
	assert_true(framing_of("Transfer-Encoding: chunked, gzip", NULL).encoded);
	assert_false(framing_of("Transfer-Encoding: xchunked", NULL).chunked);
	assert_false(framing_of("Transfer-Encoding: identity", NULL).encoded);
}

static void
test_chunk_sizes(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t size;
	} cases[] = {
	    {"0", true, 0},
	    {"fF", true, 255},
	    {"10;a=b", true, 16},
	    {"10 ;a", true, 16},
	    {";", false, 0},
	    {";a", false, 0},
	    {"x", false, 0},
	    {"1x", false, 0},
	    {"-1", false, 0},
	    {"0x10", false, 0},
	    {" 1", false, 0},
	    {"0000000000000000000000001", true, 1},
	    {"ffffffffffffffff", true, UINT64_MAX},
	    {"10000000000000000", false, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct http_line line = line_of(cases[i].text, 64);
		uint64_t size;

		if (http_parse_chunk_size(&line, &size) != cases[i].good || (cases[i].good && size != cases[i].size))
			fail_msg("%s", cases[i].text);
	}
}

static void
test_recognition(void **state)
{
	static const char *const good[] = {GET("/"), "CONNECT a:443 HTTP/1.0\r\n", "OPTIONS * HTTP/1.1\n",
					   "QUERY / HTTP/1.1\r\n", "\r\n\nGET / HTTP/1.1\r\n",
					   "UPDATEREDIRECTREF / HTTP/1.1\r\n"};
	static const char *const bad[] = {"OPTIONS sip:a SIP/2.0\r\n",
					  "DESCRIBE rtsp://a RTSP/1.0\r\n",
					  "NOMETHOD / HTTP/1.1\r\n",
					  "HTTP/1.1 200 OK\r\n",
					  "\rGET / HTTP/1.1\r\n",
					  "GET /\r\n",
					  "GETS /",
					  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
	static uint8_t line[APP_FIRST_BYTES_MAX] = "GET /", lines[APP_FIRST_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		uint32_t length = (uint32_t)strlen(good[i]);

		for (uint32_t n = 0; n < (uint32_t)(strstr(good[i], " HTTP/1") - good[i]) + 9; n++)
			assert_int_equal(http_reader.recognises((struct slice){(const uint8_t *)good[i], n}),
					 APP_MATCH_UNDECIDED);
		assert_int_equal(http_reader.recognises((struct slice){(const uint8_t *)good[i], length}),
				 APP_MATCH_YES);
	}
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(
		    http_reader.recognises((struct slice){(const uint8_t *)bad[i], (uint32_t)strlen(bad[i])}),
		    APP_MATCH_NO);
	/* A line that is longer than the first bytes; empty lines only. */
	memset(line + 5, 'u', sizeof line - 5);
	memset(lines, '\n', sizeof lines);
	assert_int_equal(http_reader.recognises((struct slice){line, sizeof line - 1}), APP_MATCH_UNDECIDED);
	assert_int_equal(http_reader.recognises((struct slice){line, sizeof line}), APP_MATCH_YES);
	assert_int_equal(http_reader.recognises((struct slice){lines, sizeof lines - 1}), APP_MATCH_UNDECIDED);
	assert_int_equal(http_reader.recognises((struct slice){lines, sizeof lines}), APP_MATCH_NO);
}

/* --- a request and its response --- */

static void
test_every_field(void **state)
{
	(void)state;
	s->verbose = true;
	exchange("POST /a?b HTTP/1.1\r\nhost:  a.example:80 \r\nUser-Agent: netobs/1\r\nContent-Length: 3\r\n\r\nabc",
		 "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
	assert_string_equal(s->trace, "> POST /a?b 85/0 -1/-1\n< 404 POST /a?b 88/47 1/1\n");
	assert_string_equal(s->info.rq_host, "a.example:80");
	assert_string_equal(s->info.rq_agent, "netobs/1");
	assert_string_equal(s->info.rq_version, "HTTP/1.1");
	assert_string_equal(s->name, "a.example:80");
	assert_int_equal(s->info.rq_uri_len, 4);
	assert_int_equal(s->info.rq_lport, 80);
	assert_int_equal(s->info.rq_rport, 1000);
	assert_int_equal(s->info.rq_id & 0xffffffff, 1);
	ASSERT_ODD();
}

static void
test_argument_layout(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct httpinfo, rq_status), 8);
	assert_int_equal(offsetof(struct httpinfo, rq_method), 16);
	assert_int_equal(offsetof(struct httpinfo, rq_uri), 32);
	assert_int_equal(offsetof(struct httpinfo, rq_agent), 288);
	assert_int_equal(offsetof(struct httpinfo, rq_host), 416);
	assert_int_equal(offsetof(struct httpinfo, rq_uri_len), 684);
	assert_int_equal(offsetof(struct httpinfo, rq_upgraded), 720);
	assert_int_equal(sizeof(struct httpinfo), 728);
}

/* How bodies of responses end. */
static void
test_response_bodies(void **state)
{
	static const char *const cases[] = {
	    OK(0),
	    OK(5) "hello",
	    "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n",
	    "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "5;a=\"b\"\r\nhello\r\n1\r\nx\r\n00;z\r\nA: b\r\n c\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\nab\n0\n\n",
	    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK(1) "x",
	    "HTTP/1.1 200\nContent-Length: 4, 4\n\nbody",
	    "HTTP/1.1 200 OK\r\nContent-Length:\r\n 4\r\n\r\nbody",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		exchange(GET("/"), cases[i]);
		if (s->dones != i * 2 + 1)
			fail_msg("not done: %s", cases[i]);
		assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 0);
		/* The reader is in step: the next exchange is complete, too. */
		send_text(CLIENT, GET("/next"));
		send_text(SERVER, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
		assert_string_equal(strstr(s->trace, "> GET /next"), "> GET /next\n< 201 GET /next\n");
		assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST] + s->anomalies[ANOMALY_HTTP_UNASKED], 0);
	}
}

static void
test_head_has_no_body(void **state)
{
	(void)state;
	exchange("HEAD / HTTP/1.1\r\n" H "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
	send_text(CLIENT, "HEAD / HTTP/1.1\r\n" H "\r\n");
	send_text(SERVER, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	assert_string_equal(s->trace, "> HEAD /\n< 200 HEAD /\n> HEAD /\n< 200 HEAD /\n");
	ASSERT_ODD();
}

static void
test_body_until_the_end(void **state)
{
	(void)state;
	s->verbose = true;
	exchange("GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nabc");
	send_text(SERVER, "HTTP/1.1 500 no\r\n\r\n");
	assert_string_equal(s->trace, "> GET / 18/0 -1/-1\n");
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "> GET / 18/0 -1/-1\n< 200 GET / 18/41 1/2\n");
	ASSERT_ODD();
	/* An invalid length, and a last coding that is not chunked (section 6.3, items 4 and 5). */
	exchange(GET("/"), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc");
	tcp_fixture_end(&s->tcp, SERVER, TCP_RST);
	assert_int_equal(s->info.rq_response_bytes, 60);
	ASSERT_ODD(ANOMALY_HTTP_LENGTH, );
	exchange(GET("/"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc");
	assert_int_equal(s->dones, 2);
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_int_equal(s->dones, 3);
	ASSERT_ODD();
}

static void
test_request_bodies(void **state)
{
	(void)state;
	exchange("PUT /a HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\n" GET("/b"),
		 OK(0) OK(0));
	assert_string_equal(s->trace, "> PUT /a\n> GET /b\n< 200 PUT /a\n< 200 GET /b\n");
	ASSERT_ODD();
	/* The server answers before the body is complete. */
	exchange("PUT /a HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nGET /", OK(0));
	send_text(CLIENT, "12345" GET("/b"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> PUT /a\n< 200 PUT /a\n> GET /b\n< 200 GET /b\n");
	ASSERT_ODD();
	/* The end of the body is unknown. */
	exchange("PUT /a HTTP/1.1\r\n" H "Content-Length: x\r\n\r\nGET /no HTTP/1.1\r\n\r\n", OK(0));
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> PUT /a\n< 200 PUT /a\n> GET /b\n< 200 GET /b\n");
	ASSERT_ODD(ANOMALY_HTTP_LENGTH, ANOMALY_HTTP_LOST, ANOMALY_HTTP_FOUND, );
	exchange("PUT /a HTTP/1.1\r\n" H "Transfer-Encoding: chunked, gzip\r\n\r\nxx", OK(0));
	ASSERT_ODD(ANOMALY_HTTP_ENCODING, ANOMALY_HTTP_LOST, );
}

static void
test_upgrade_and_connect(void **state)
{
	(void)state;
	exchange(GET("/chat"), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
	send_text(CLIENT, GET("/no"));
	assert_string_equal(s->trace, "> GET /chat\n< 101 GET /chat upgraded\n");
	exchange("CONNECT a:1 HTTP/1.1\r\n" H "\r\n", "HTTP/1.1 299 Yes\r\nContent-Length: 5\r\n\r\n");
	send_text(CLIENT, GET("/no"));
	assert_string_equal(s->trace, "> CONNECT a:1\n< 299 CONNECT a:1 upgraded\n");
	exchange("CONNECT a:1 HTTP/1.1\r\n" H "\r\n", "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/yes"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> CONNECT a:1\n< 407 CONNECT a:1\n> GET /yes\n< 200 GET /yes\n");
	ASSERT_ODD();
	/* Bytes for the tunnel before its response. */
	exchange("CONNECT a:1 HTTP/1.1\r\n" H "\r\n\x16\x03\x01", "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/yes"));
	assert_string_equal(s->trace, "> CONNECT a:1\n< 407 CONNECT a:1\n> GET /yes\n");
	ASSERT_ODD(ANOMALY_HTTP_FOUND, );
}

static void
test_no_response(void **state)
{
	(void)state;
	/* The server ends without a byte, with half a response, and resets. */
	exchange(GET("/a"), "");
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
	assert_int_equal(s->info.rq_first_byte_us, -1);
	ASSERT_ODD();
	exchange(GET("/a") GET("/b"), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n< 200 GET /a\n< 0 GET /b\n");
	ASSERT_ODD(ANOMALY_HTTP_CUT, );
	exchange(GET("/a"), "");
	tcp_fixture_end(&s->tcp, SERVER, TCP_RST);
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
	exchange(GET("/a"), "HTTP/1.1 100 Continue\r\n\r\n");
	tcp_fixture_end(&s->tcp, CLIENT, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n");
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
	/* A request that crosses the server's FIN. */
	exchange(GET("/a"), OK(0));
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	send_text(CLIENT, GET("/b"));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /b\n< 0 GET /b\n");
	/* The only response is missing in the capture, which the FIN proves. */
	exchange(GET("/a"), "");
	s->tcp.next[SERVER] += 50;
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	tcp_fixture_end(&s->tcp, CLIENT, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n");
	/* An incomplete request is not a request. */
	exchange("GET / HTTP/1.1\r\nHost:", "");
	tcp_fixture_end(&s->tcp, CLIENT, TCP_FIN);
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "");
	ASSERT_ODD(ANOMALY_HTTP_CUT, );
}

/* --- pieces --- */

static const char dialogue_requests[] =
    "\r\nPOST /first HTTP/1.1\r\n" H
    "User-Agent: one\r\n two\r\nTransfer-Encoding: chunked\r\n\r\n4;x\r\nabcd\r\n0\r\nT: 1\r\n\r\n"
    "HEAD /second HTTP/1.0\r\n\r\n" GET("/third");
static const char dialogue_responses[] =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Long: "
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n\r\n"
    "a\r\n0123456789\r\n0\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 404 Not Found\r\n"
    "Content-Length: 3\r\n\r\nend";
static const char dialogue_trace[] = "> POST /first\n> HEAD /second\n> GET /third\n< 200 POST /first\n"
				     "< 200 HEAD /second\n< 404 GET /third\n";

static void
send_pieces(unsigned from, const char *text, uint32_t length, uint32_t cut, uint32_t step)
{
	for (uint32_t at = 0; at < length;) {
		uint32_t n = cut > 0 ? (at == 0 ? cut : length) : step;

		if (n > length - at)
			n = length - at;
		tcp_fixture_feed(&s->tcp, from, text + at, n);
		at += n;
	}
}

static void
check_dialogue(uint32_t request_cut, uint32_t response_cut, uint32_t step)
{
	clear_trace();
	s->tcp.port[CLIENT]++;
	tcp_fixture_handshake(&s->tcp);
	send_pieces(CLIENT, dialogue_requests, sizeof dialogue_requests - 1, request_cut, step);
	send_pieces(SERVER, dialogue_responses, sizeof dialogue_responses - 1, response_cut, step);
	assert_string_equal(s->trace, dialogue_trace);
	assert_int_equal(s->info.rq_response_bytes, 48);
	ASSERT_ODD(ANOMALY_HTTP_FOLD, );
}

static void
test_any_segments(void **state)
{
	(void)state;
	for (uint32_t cut = 1; cut < sizeof dialogue_requests - 1; cut++)
		check_dialogue(cut, 0, 10000);
	for (uint32_t cut = 1; cut < sizeof dialogue_responses - 1; cut++)
		check_dialogue(0, cut, 10000);
	for (uint32_t step = 1; step < 40; step++)
		check_dialogue(0, 0, step);
}

/* The capture ends at every byte: nothing is reported that did not happen. */
static void
test_cut_at_every_byte(void **state)
{
	(void)state;
	for (uint32_t cut = 0; cut < sizeof dialogue_responses - 1; cut++) {
		clear_trace();
		s->tcp.port[CLIENT]++;
		tcp_fixture_handshake(&s->tcp);
		tcp_fixture_feed(&s->tcp, CLIENT, dialogue_requests, sizeof dialogue_requests - 1);
		tcp_fixture_feed(&s->tcp, SERVER, dialogue_responses, cut);
		assert_memory_equal(s->trace, dialogue_trace, strlen(s->trace));
	}
}

/* --- gaps --- */

static void
test_gap_in_a_body(void **state)
{
	(void)state;
	exchange(GET("/a"), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 90);
	send_text(SERVER, "1234567");
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /b\n< 200 GET /b\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 0);
	/* A chunk, a body until the end, and a request's body. */
	exchange(GET("/a"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nabc");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 97);
	send_text(SERVER, "\r\n0\r\n\r\n");
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n");
	exchange("PUT /a HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\n", "");
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 10);
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0) OK(0));
	assert_string_equal(s->trace, "> PUT /a\n> GET /b\n< 200 PUT /a\n< 200 GET /b\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 0);
}

/* A response that was sent, but not captured, is not a missing one. */
static void
test_gap_before_a_reset(void **state)
{
	(void)state;
	for (unsigned from = CLIENT; from <= SERVER; from++) {
		exchange(GET("/a"), OK(0));
		send_text(CLIENT, GET("/b"));
		s->tcp.next[SERVER] += 50; /* not captured */
		tcp_fixture_feed_segment(&s->tcp, CLIENT, TCP_ACK, s->tcp.next[CLIENT], NULL, 0, 0);
		tcp_fixture_end(&s->tcp, from, TCP_RST);
		assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /b\n");
		assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 1);
	}
}

static void
test_gap_elsewhere(void **state)
{
	(void)state;
	/* In the header of a response: its request is not reported again, and the next one is. */
	exchange(GET("/a"), "HTTP/1.1 20");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 30);
	send_text(SERVER, "tail of a body");
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n< 200 GET /b\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 1);
	assert_int_equal(s->anomalies[ANOMALY_HTTP_FOUND], 1);
	/* Beyond a body. */
	exchange(GET("/a"), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 50);
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n");
	assert_int_equal(s->info.rq_total_us, 2);
	assert_int_equal(s->anomalies[ANOMALY_HTTP_LOST], 1);
	/* In the size of a chunk: the status is known, the end is not. */
	exchange(GET("/a"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 50);
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n");
	assert_int_equal(s->info.rq_total_us, -1);
	assert_int_equal(s->info.rq_first_byte_us, 1);
	/* A whole response is missing: the request after it does not get the wrong one. */
	exchange(GET("/a"), "");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 50);
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, "HTTP/1.1 500 b\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n< 500 GET /b\n> GET /c\n< 200 GET /c\n");
	/* It is missing in the capture, which later segments prove. */
	exchange(GET("/a"), "");
	s->tcp.next[SERVER] += 50;
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, "HTTP/1.1 500 b\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, "HTTP/1.1 202 c\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, OK(0));
	assert_null(strstr(s->trace, "500 GET /a"));
	assert_null(strstr(s->trace, "202 GET /b"));
	assert_non_null(strstr(s->trace, "< 200 GET /d"));
	/* A whole request is missing: its response is ignored. */
	exchange(GET("/a"), OK(0));
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 50);
	send_text(SERVER, "HTTP/1.1 500 b\r\nContent-Length: 0\r\n\r\n");
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /c\n< 200 GET /c\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_UNASKED], 1);
	/* No request is accepted while another one waits: how many are missing between them is unknown. */
	exchange(GET("/a"), "");
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 50);
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, "HTTP/1.1 201 a\r\nContent-Length: 0\r\n\r\n");
	send_text(SERVER, OK(0) OK(0));
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n< 201 GET /a\n> GET /d\n< 200 GET /d\n");
	/* In the header of a request. */
	exchange("GET /a HTTP/1.1\r\nHo", "");
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 10);
	send_text(CLIENT, "x: y\r\n\r\n");
	send_text(SERVER, OK(0));
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /c\n< 200 GET /c\n");
}

#define STATUS(status) "HTTP/1.1 " #status " x\r\nContent-Length: 0\r\n\r\n"

/* A request is missing that has no response yet when the next one is sent. */
static void
test_gap_in_pipelined_requests(void **state)
{
	(void)state;
	exchange(GET("/a"), OK(0));
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 50); /* /b */
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, STATUS(202));
	send_text(SERVER, STATUS(203));
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, STATUS(204));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /d\n< 204 GET /d\n");
	/* The gap becomes known after the response to the missing request. */
	exchange(GET("/a"), OK(0));
	s->tcp.next[CLIENT] += 50;
	send_text(SERVER, STATUS(202));
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, STATUS(203));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /c\n< 203 GET /c\n");
	/* The client pipelines: how many requests are missing is unknown. */
	exchange(GET("/a"), OK(0));
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 100); /* /b and /c */
	send_text(SERVER, STATUS(202));
	send_text(CLIENT, GET("/d") GET("/e"));
	send_text(SERVER, STATUS(203));
	send_text(CLIENT, GET("/f"));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /d\n");
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_HTTP_LOST, ANOMALY_HTTP_UNASKED, ANOMALY_HTTP_FOUND,
		   ANOMALY_HTTP_PIPELINE_GAP, );
	exchange(GET("/a") GET("/b"), OK(0) OK(0));
	tcp_fixture_feed_cut(&s->tcp, CLIENT, 100);
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, STATUS(203));
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n< 200 GET /a\n< 200 GET /b\n");
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_HTTP_LOST, ANOMALY_HTTP_PIPELINE_GAP, );
}

/* The response to the first of several requests is missing; those to the others come after the next request. */
static void
test_gap_in_pipelined_responses(void **state)
{
	(void)state;
	exchange(GET("/a") GET("/b") GET("/c"), "");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 50);
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, STATUS(202));
	send_text(SERVER, STATUS(203));
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n> GET /c\n");
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_HTTP_LOST, ANOMALY_HTTP_PIPELINE_GAP, );
	/* It is cut in its body. */
	exchange(GET("/a") GET("/b"), "HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\n\r\n");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 50);
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, STATUS(202));
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n< 201 GET /a\n");
	ASSERT_ODD(ANOMALY_STREAM_GAP, ANOMALY_HTTP_LOST, ANOMALY_HTTP_PIPELINE_GAP, );
}

/* A response begins before its supposed request, at every byte of its first line. */
static void
test_response_before_its_request(void **state)
{
	static const char response[] = "HTTP/1.1 408 x\r\nContent-Length: 0\r\n\r\n";

	(void)state;
	for (uint32_t cut = 1; cut < 16; cut++) {
		exchange(GET("/a"), OK(0));
		tcp_fixture_feed(&s->tcp, SERVER, response, cut);
		send_text(CLIENT, GET("/b"));
		tcp_fixture_feed(&s->tcp, SERVER, response + cut, sizeof response - 1 - cut);
		assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /b\n");
		ASSERT_ODD(ANOMALY_HTTP_UNASKED, );
	}
}

/* What follows the header of such a response is another protocol, although the end of the header is missing. */
static void
test_gap_in_the_header_of_an_upgrade(void **state)
{
	(void)state;
	exchange(GET("/chat"), "HTTP/1.1 101 x\r\nUpgr");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 20);
	send_text(CLIENT, GET("/no"));
	send_text(SERVER, STATUS(202));
	assert_string_equal(s->trace, "> GET /chat\n< 101 GET /chat upgraded\n");
	assert_int_equal(s->info.rq_total_us, -1);
	exchange("CONNECT a:1 HTTP/1.1\r\n" H "\r\n", "HTTP/1.1 200 x\r\nVia");
	tcp_fixture_feed_cut(&s->tcp, SERVER, 20);
	send_text(CLIENT, GET("/no"));
	assert_string_equal(s->trace, "> CONNECT a:1\n< 200 CONNECT a:1 upgraded\n");
}

/* A segment that is captured, missing, or cut by the snapshot length: one in eight each of the latter two. */
static void
send_lossy(unsigned from, const char *text, uint32_t *random)
{
	uint32_t length = (uint32_t)strlen(text);

	*random = *random * 1664525 + 1013904223;
	if (*random >> 29 == 0)
		s->tcp.next[from] += length;
	else if (*random >> 29 == 1)
		tcp_fixture_feed_cut(&s->tcp, from, length);
	else
		tcp_fixture_feed(&s->tcp, from, text, length);
}

/* Asserts that the response to request number n has status 200 + n; returns the number of responses. */
static unsigned
check_pairs(void)
{
	unsigned status, number, pairs = 0;

	for (const char *at = s->trace; (at = strchr(at, '<')) != NULL; at++) {
		assert_int_equal(sscanf(at, "< %u GET /%u", &status, &number), 2);
		if (status != 200 + number)
			fail_msg("wrong pair: %s", s->trace);
		pairs++;
	}
	return pairs;
}

/* Whatever is missing, a client that does not pipeline gets no wrong pair, and most of the right ones. */
static void
test_losses_anywhere(void **state)
{
	uint32_t random = 1;
	unsigned pairs = 0;
	char text[100];

	(void)state;
	for (unsigned connection = 0; connection < 3000; connection++) {
		exchange("", "");
		for (unsigned i = 0; i < 20; i++) {
			snprintf(text, sizeof text, "GET /%u HTTP/1.1\r\n" H "\r\n", i);
			send_lossy(CLIENT, text, &random);
			snprintf(text, sizeof text, "HTTP/1.1 %u x\r\nContent-Length: 0\r\n\r\n", 200 + i);
			send_lossy(SERVER, text, &random);
		}
		pairs += check_pairs();
	}
	assert_true(pairs > 20000);
}

static void
test_mid_stream(void **state)
{
	(void)state;
	clear_trace();
	s->tcp.next[CLIENT] = 1000;
	s->tcp.next[SERVER] = 2000;
	tcp_fixture_pick_up(&s->tcp);
	send_text(SERVER, OK(0));
	send_text(CLIENT, "x GET / HTTP/1.1\r\n\r\n");
	send_text(CLIENT, GET("/a"));
	send_text(SERVER, OK(3) "abc");
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0));
	assert_string_equal(s->trace, "> GET /a\n< 200 GET /a\n> GET /b\n< 200 GET /b\n");
	assert_true((s->info.rq_id & 0x80000000) != 0);
	/* A response that was not found: the next one is not that of the oldest request. */
	tcp_fixture_feed_cut(&s->tcp, SERVER, 10);
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, "x" OK(0));
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, "HTTP/1.1 404 d\r\nContent-Length: 0\r\n\r\n");
	assert_string_equal(strstr(s->trace, "> GET /c"), "> GET /c\n> GET /d\n< 404 GET /d\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_FOUND], 3);
	/* Two requests at once: whether earlier ones wait is unknown. */
	send_text(CLIENT, GET("/e"));
	send_text(CLIENT, GET("/f"));
	send_text(SERVER, OK(0));
	assert_string_equal(strstr(s->trace, "> GET /e"), "> GET /e\n");
	assert_int_equal(s->anomalies[ANOMALY_HTTP_PIPELINE_GAP], 1);
}

/* A tracer comes and goes: a request before does not get a response after. */
static void
test_untraced_meanwhile(void **state)
{
	(void)state;
	exchange(GET("/a"), "");
	s->tcp.ctx.traced = false;
	send_text(SERVER, OK(0));
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, OK(0));
	s->tcp.ctx.traced = true;
	send_text(CLIENT, GET("/c"));
	send_text(SERVER, OK(0));
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, "HTTP/1.1 201 d\r\nContent-Length: 0\r\n\r\n");
	assert_null(strstr(s->trace, "200 GET /a"));
	assert_non_null(strstr(s->trace, "> GET /d\n< 201 GET /d\n"));
}

/* --- another protocol, damage and limits --- */

static void
test_other_protocols(void **state)
{
	(void)state;
	exchange("\x16\x03\x01\x02", "");
	ASSERT_ODD(ANOMALY_HTTP_ALIEN, );
	exchange("", "SSH-2.0-OpenSSH\r\n");
	ASSERT_ODD(ANOMALY_HTTP_ALIEN, );
	exchange("XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", "");
	ASSERT_ODD(ANOMALY_HTTP_ALIEN, );
	exchange("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "");
	ASSERT_ODD(ANOMALY_HTTP_PREFACE, );
	send_text(CLIENT, GET("/"));
	assert_string_equal(s->trace, "");
	exchange(GET("/a"), "ICY 200 OK\r\n\r\n");
	ASSERT_ODD(ANOMALY_HTTP_LOST, );
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
	exchange(GET("/a"), OK(0) "HTTP/1.1 408 Timeout\r\n\r\n");
	ASSERT_ODD(ANOMALY_HTTP_UNASKED, );
}

/* Bytes that are not a response of HTTP/1 answer the requests that wait. */
static void
test_foreign_responses(void **state)
{
	static const char *const responses[] = {"SSH-2.0-OpenSSH\r\n", "HTTP/2.0 200 OK\r\n", "HTTP/1.1 2x0 OK\r\n",
						"<html>", "\r\n", "HTTP/1.1 100 Continue\r\n\r\nICY 200 OK\r\n"};

	(void)state;
	for (unsigned i = 0; i < sizeof responses / sizeof responses[0]; i++) {
		exchange(GET("/a"), responses[i]);
		ASSERT_ODD(ANOMALY_HTTP_LOST, );
		assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
		/* What follows is not a response either, then one again. */
		send_text(CLIENT, GET("/b"));
		send_text(SERVER, "abc");
		send_text(CLIENT, GET("/c"));
		send_text(SERVER, OK(0));
		assert_string_equal(s->trace,
				    "> GET /a\n< 0 GET /a\n> GET /b\n< 0 GET /b\n> GET /c\n< 200 GET /c\n");
	}
	/* Byte by byte. */
	exchange(GET("/a"), "");
	for (const char *c = "HTTP/2"; *c != '\0'; c++)
		tcp_fixture_feed(&s->tcp, SERVER, c, 1);
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n");
	/* All that wait in a pipeline, and the end of the connection after such bytes. */
	exchange(GET("/a") GET("/b") GET("/c"), OK(0) "ICY");
	assert_string_equal(s->trace, "> GET /a\n> GET /b\n> GET /c\n< 200 GET /a\n< 0 GET /b\n< 0 GET /c\n");
	exchange(GET("/a"), "ICY");
	send_text(CLIENT, GET("/b"));
	tcp_fixture_end(&s->tcp, SERVER, TCP_FIN);
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n> GET /b\n< 0 GET /b\n");
	/* After missing bytes a response may be missing too. */
	exchange(GET("/a"), "ICY");
	send_text(CLIENT, GET("/b"));
	tcp_fixture_feed_cut(&s->tcp, SERVER, 10);
	send_text(SERVER, "abc");
	assert_string_equal(s->trace, "> GET /a\n< 0 GET /a\n> GET /b\n");
}

#define EXPECT(length) "PUT /a HTTP/1.1\r\n" H "Content-Length: " length "\r\nExpect: 100-Continue\r\n\r\n"
#define NO417	       "HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"

/* Sends text in segments of `step` bytes. */
static void
send_steps(unsigned from, const char *text, uint32_t step)
{
	for (uint32_t left = (uint32_t)strlen(text), n; left > 0; left -= n, text += n) {
		n = left < step ? left : step;
		tcp_fixture_feed(&s->tcp, from, text, n);
	}
}

static void
test_body_that_never_comes(void **state)
{
	static const char chunked[] =
	    "PUT /a HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nExpect: x, 100-continue\r\n\r\n";
	static const char *const requests[] = {EXPECT("1"), EXPECT("10000"), chunked};
	static const uint32_t steps[] = {1, 2, 7, 1000};

	(void)state;
	for (unsigned i = 0; i < 3 * 4; i++) {
		exchange(requests[i / 4], NO417);
		send_steps(CLIENT, GET("/b") "POST /c HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nGET", steps[i % 4]);
		send_text(SERVER, OK(0) OK(0));
		send_text(CLIENT, GET("/d"));
		assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n> POST /c\n< 200 GET /b\n"
					      "< 200 POST /c\n> GET /d\n");
		ASSERT_ODD();
	}
	/* The body of the response is still coming. */
	exchange(EXPECT("5"), "HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\n");
	send_text(CLIENT, GET("/b"));
	send_text(SERVER, "no" OK(0));
	assert_string_equal(s->trace, "> PUT /a\n> GET /b\n< 417 PUT /a\n< 200 GET /b\n");
	/* The response is captured late. */
	exchange(EXPECT("5"), "");
	s->tcp.next[SERVER] += (uint32_t)strlen(NO417);
	send_text(CLIENT, GET("/b"));
	assert_string_equal(s->trace, "> PUT /a\n");
	tcp_fixture_feed_segment(&s->tcp, SERVER, TCP_ACK, s->tcp.next[SERVER] - (uint32_t)strlen(NO417), NO417,
				 (uint32_t)strlen(NO417), (uint32_t)strlen(NO417));
	assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n");
}

static void
test_body_that_comes(void **state)
{
	static const char *const bodies[] = {"1234567890", "GET / HTTP", "POST\r\n1234", "PPPPPPPPPP", "P\n12345678",
					     "OPTIONS \r\n", "\r\n\r\n123456", "HEAD / HTT"};
	static const uint32_t steps[] = {1, 2, 3, 1000};
	static char large[70000];

	(void)state;
	/* After a final response all the same: its first bytes tell. */
	for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0] * 4; i++) {
		exchange(EXPECT("10"), NO417);
		send_steps(CLIENT, bodies[i / 4], steps[i % 4]);
		send_steps(CLIENT, "\r\n" GET("/b"), steps[i % 4]);
		assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n");
		ASSERT_ODD();
	}
	/* After 100, and without waiting, whatever it is. */
	exchange(EXPECT("18"), "HTTP/1.1 100 Continue\r\n\r\n");
	send_text(CLIENT, "GET /x HTTP/1.1\r\n\r" GET("/b"));
	assert_string_equal(s->trace, "> PUT /a\n> GET /b\n");
	exchange(EXPECT("18") "GET /x HTTP/1.1\r\n\r" GET("/b"), NO417);
	assert_string_equal(s->trace, "> PUT /a\n> GET /b\n< 417 PUT /a\n");
	/* The body is a long line. */
	exchange(EXPECT("70000"), NO417);
	memset(large, 'x', sizeof large);
	memcpy(large, "GET ", 4);
	for (unsigned at = 0; at < sizeof large; at += 1000)
		tcp_fixture_feed(&s->tcp, CLIENT, large + at, 1000);
	send_text(CLIENT, GET("/b"));
	assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n");
	ASSERT_ODD();
	/* A body in chunks. */
	exchange("PUT /a HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n", NO417);
	send_steps(CLIENT, "3\r\nabc\r\n0\r\n\r\n" GET("/b"), 2);
	assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n");
	ASSERT_ODD();
	/* A request without the field has its body. */
	exchange("PUT /a HTTP/1.1\r\n" H "Content-Length: 18\r\n\r\n", NO417);
	send_text(CLIENT, "GET /x HTTP/1.1\r\n\r" GET("/b"));
	assert_string_equal(s->trace, "> PUT /a\n< 417 PUT /a\n> GET /b\n");
}

static void
test_odd_fields(void **state)
{
	(void)state;
	exchange("GET / HTTP/1.1\r\n\r\n", OK(0));
	ASSERT_ODD(ANOMALY_HTTP_HOST, );
	exchange("GET / HTTP/1.1\r\n" H "Host: b\r\n\r\n", OK(0));
	assert_string_equal(s->info.rq_host, "a.example");
	ASSERT_ODD(ANOMALY_HTTP_HOST, );
	exchange("GET /a b HTTP/1.1\r\n" H "\r\n", OK(0));
	assert_string_equal(s->info.rq_uri, "/a b");
	ASSERT_ODD(ANOMALY_HTTP_TARGET, );
	exchange("GET / HTTP/1.1\r\n" H "no colon\r\n: x\r\nA : b\r\n c: d\r\n\r\n", OK(0));
	ASSERT_ODD(ANOMALY_HTTP_FIELD, ANOMALY_HTTP_FIELD, ANOMALY_HTTP_FIELD, ANOMALY_HTTP_FOLD, );
	exchange(GET("/"), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
	assert_int_equal(s->info.rq_status, 200);
	ASSERT_ODD(ANOMALY_HTTP_ENCODING, );
	exchange(GET("/"), "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
	ASSERT_ODD(ANOMALY_HTTP_ENCODING, );
}

static void
test_nul_bytes(void **state)
{
	static const char request[] = "GET /a\0b HTTP/1.1\r\nHost: c\0\0d\r\n\r\n";

	(void)state;
	exchange("", "");
	tcp_fixture_feed(&s->tcp, CLIENT, request, sizeof request - 1);
	assert_string_equal(s->info.rq_uri, "/a%00b");
	assert_string_equal(s->info.rq_host, "c%00%00d");
	assert_int_equal(s->info.rq_uri_len, 4);
	ASSERT_ODD(ANOMALY_HTTP_TARGET, );
}

static void
test_bad_chunks(void **state)
{
	static const char *const bodies[] = {"x\r\n", "3\r\nabcd\r\n", "3\r\nabcde", "10000000000000000\r\n", "\r\n"};
	static char endless[HTTP_CHUNK_LINE_MAX + 100];

	(void)state;
	for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		char response[200];

		snprintf(response, sizeof response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s",
			 bodies[i]);
		exchange(GET("/"), response);
		assert_string_equal(s->trace, "> GET /\n< 200 GET /\n");
		assert_int_equal(s->info.rq_total_us, -1);
		ASSERT_ODD(ANOMALY_HTTP_CHUNK, ANOMALY_HTTP_LOST, );
	}
	exchange(GET("/"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	memset(endless, ';', sizeof endless);
	endless[0] = '1';
	tcp_fixture_feed(&s->tcp, SERVER, endless, sizeof endless);
	ASSERT_ODD(ANOMALY_HTTP_CHUNK_LIMIT, ANOMALY_HTTP_LOST, );
}

static void
test_long_headers(void **state)
{
	static char filler[70000];
	char request[2000];

	(void)state;
	memset(filler, 'x', sizeof filler);
	filler[1000] = ':';
	/* A field of 70,000 bytes: what is after it counts only if it decides where the message ends. */
	exchange("PUT / HTTP/1.1\r\nHost: a\r\n", "");
	tcp_fixture_feed(&s->tcp, CLIENT, filler, sizeof filler);
	send_text(CLIENT, "\r\nUser-Agent: late\r\nContent-Length: 4\r\n\r\nbody" GET("/next"));
	assert_string_equal(s->trace, "> PUT /\n> GET /next\n");
	ASSERT_ODD(ANOMALY_HTTP_HEADER_LIMIT, );
	exchange("PUT / HTTP/1.1\r\nHost: a\r\n", "");
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(request, sizeof request, "X-%u: %u\r\n", i, i);
		send_text(CLIENT, request);
	}
	send_text(CLIENT, "User-Agent: late\r\n\r\n");
	assert_string_equal(s->trace, "> PUT /\n");
	assert_string_equal(s->info.rq_agent, "");
	ASSERT_ODD(ANOMALY_HTTP_HEADER_LIMIT, );
	/* Texts at their limits. */
	for (int length = 250; length < 260; length++) {
		snprintf(request, sizeof request, "GET /%0*d HTTP/1.1\r\nHost: %0*d\r\nUser-Agent: %0*d\r\n\r\n",
			 length - 1, 0, length, 0, length - 128, 0);
		exchange(request, "");
		assert_int_equal(s->info.rq_uri_len, length);
		assert_int_equal(strlen(s->info.rq_uri), length < 255 ? length : 255);
		assert_int_equal(strlen(s->info.rq_host), length < 255 ? length : 255);
		assert_int_equal(strlen(s->info.rq_agent), length - 128 < 127 ? length - 128 : 127);
		ASSERT_ODD();
	}
	/* No line end at all. */
	exchange("GET /", "");
	for (unsigned i = 0; i < 3; i++)
		tcp_fixture_feed(&s->tcp, CLIENT, filler, sizeof filler);
	ASSERT_ODD(ANOMALY_HTTP_ALIEN, );
}

static void
test_pipeline_limit(void **state)
{
	(void)state;
	exchange("", "");
	for (unsigned i = 0; i < HTTP_QUEUE_MAX; i++)
		send_text(CLIENT, GET("/a"));
	ASSERT_ODD();
	send_text(CLIENT, GET("/b"));
	send_text(CLIENT, GET("/c"));
	ASSERT_ODD(ANOMALY_HTTP_PIPELINE_LIMIT, );
	assert_int_equal(s->starts, HTTP_QUEUE_MAX);
	for (unsigned i = 0; i < HTTP_QUEUE_MAX + 2; i++)
		send_text(SERVER, OK(0));
	send_text(CLIENT, GET("/d"));
	send_text(SERVER, OK(0));
	assert_int_equal(s->dones, HTTP_QUEUE_MAX);
	assert_int_equal(s->starts, HTTP_QUEUE_MAX);
	assert_int_equal(s->info.rq_id & 0xffffffff, HTTP_QUEUE_MAX);
	ASSERT_ODD(ANOMALY_HTTP_PIPELINE_LIMIT, );
}

static void
test_text_limit(void **state)
{
	char request[1000], uri[256];

	(void)state;
	memset(uri, 'u', 255);
	uri[0] = '/';
	uri[255] = '\0';
	snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", uri, uri);
	exchange(request, "");
	assert_string_equal(s->info.rq_host, uri);
	send_text(CLIENT, request);
	assert_string_equal(s->info.rq_host, "");
	assert_int_equal(strlen(s->info.rq_uri), HTTP_TEXT_MAX - 255 - 255);
	assert_int_equal(s->info.rq_uri_len, 255);
	ASSERT_ODD(ANOMALY_HTTP_TEXT_LIMIT, ANOMALY_HTTP_TEXT_LIMIT, );
	/* Methods are whole all the same. */
	send_text(CLIENT, request);
	assert_string_equal(s->info.rq_method, "GET");
	assert_string_equal(s->info.rq_uri, "");
	memcpy(request, "ODD ", 4);
	send_text(CLIENT, request);
	assert_string_equal(s->info.rq_method, "ODD");
	memcpy(request, "ODE ", 4);
	send_text(CLIENT, request);
	send_text(SERVER, OK(0) OK(0) OK(0));
	assert_string_equal(s->info.rq_method, "GET");
	send_text(SERVER, OK(0));
	assert_string_equal(s->info.rq_method, "ODD");
	send_text(SERVER, OK(0));
	assert_string_equal(s->info.rq_method, "ODE");
	memcpy(request, "GET ", 4);
	send_text(CLIENT, request);
	send_text(CLIENT, request);
	/* Memory is free again after the response. */
	send_text(SERVER, OK(0) OK(0));
	send_text(CLIENT, request);
	assert_string_equal(s->info.rq_host, uri);
	assert_string_equal(s->info.rq_uri, uri);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_request_lines),
	    cmocka_unit_test(test_status_lines),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_chunk_sizes),
	    cmocka_unit_test(test_recognition),
	    cmocka_unit_test(test_argument_layout),
	    cmocka_unit_test_setup_teardown(test_every_field, begin, end),
	    cmocka_unit_test_setup_teardown(test_response_bodies, begin, end),
	    cmocka_unit_test_setup_teardown(test_head_has_no_body, begin, end),
	    cmocka_unit_test_setup_teardown(test_body_until_the_end, begin, end),
	    cmocka_unit_test_setup_teardown(test_request_bodies, begin, end),
	    cmocka_unit_test_setup_teardown(test_upgrade_and_connect, begin, end),
	    cmocka_unit_test_setup_teardown(test_no_response, begin, end),
	    cmocka_unit_test_setup_teardown(test_any_segments, begin, end),
	    cmocka_unit_test_setup_teardown(test_cut_at_every_byte, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_in_a_body, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_before_a_reset, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_elsewhere, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_in_pipelined_requests, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_in_pipelined_responses, begin, end),
	    cmocka_unit_test_setup_teardown(test_response_before_its_request, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_in_the_header_of_an_upgrade, begin, end),
	    cmocka_unit_test_setup_teardown(test_losses_anywhere, begin, end),
	    cmocka_unit_test_setup_teardown(test_mid_stream, begin, end),
	    cmocka_unit_test_setup_teardown(test_untraced_meanwhile, begin, end),
	    cmocka_unit_test_setup_teardown(test_other_protocols, begin, end),
	    cmocka_unit_test_setup_teardown(test_odd_fields, begin, end),
	    cmocka_unit_test_setup_teardown(test_nul_bytes, begin, end),
	    cmocka_unit_test_setup_teardown(test_bad_chunks, begin, end),
	    cmocka_unit_test_setup_teardown(test_long_headers, begin, end),
	    cmocka_unit_test_setup_teardown(test_pipeline_limit, begin, end),
	    cmocka_unit_test_setup_teardown(test_foreign_responses, begin, end),
	    cmocka_unit_test_setup_teardown(test_body_that_never_comes, begin, end),
	    cmocka_unit_test_setup_teardown(test_body_that_comes, begin, end),
	    cmocka_unit_test_setup_teardown(test_text_limit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
