/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of services: what it counts, the shares of times, its bound, its lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "records/service_lines.h"
#include "records/services.h"

#define SECOND UINT64_C(1000000000)

static const struct service *list[SERVICES_MAX + 1];

/* A connection that was opened in 20 ms. */
static struct connrec
record_of(const char *server, unsigned port)
{
	struct connrec record = {.cr_server_port = (netobs_u16)port,
				 .cr_protocol = 6,
				 .cr_handshake_us = 20000,
				 .cr_connect_us = 20000,
				 .cr_server_min_us = -1,
				 .cr_server_max_us = -1,
				 .cr_end = SECOND,
				 .cr_reason = "fin"};

	snprintf(record.cr_server, sizeof record.cr_server, "%s", server);
	return record;
}

/* An attempt that failed. */
static struct connrec
attempt_at(const char *server, unsigned port, const char *reason)
{
	struct connrec record = record_of(server, port);

	record.cr_handshake_us = -1;
	snprintf(record.cr_reason, sizeof record.cr_reason, "%s", reason);
	return record;
}

static void
set_answers(struct connrec *record, unsigned count, int64_t min, int64_t max, uint64_t sum)
{
	record->cr_exchanges = count;
	record->cr_server_min_us = min;
	record->cr_server_max_us = max;
	record->cr_server_us = sum;
}

static void
test_counts(void **state)
{
	struct services *services = services_new();
	struct connrec record = record_of("192.0.2.9", 443);
	const struct service *service;

	(void)state;
	record.cr_client_bytes = 100;
	record.cr_server_bytes = 900;
	record.cr_client_segments = 7;
	record.cr_server_segments = 3;
	record.cr_server_resent = 1;
	record.cr_server_lost_us = 300000;
	record.cr_client_us = 9000000;
	set_answers(&record, 1, 250000, 250000, 250000);
	services_take(services, &record, false);
	services_take(services, &record, true);
	record = attempt_at("192.0.2.9", 443, "refused");
	services_take(services, &record, false);
	record = attempt_at("192.0.2.9", 443, "open"); /* it has a record when it ends, too */
	services_take(services, &record, false);
	record = record_of("192.0.2.9", 443);
	record.cr_client_flags = record.cr_server_flags = 1; /* both ends have closed */
	snprintf(record.cr_reason, sizeof record.cr_reason, "%s", "reset-by-client");
	services_take(services, &record, false);

	assert_int_equal(services_count(services), 1);
	service = services_row(services, 0);
	assert_int_equal(service->connections, 4);
	assert_int_equal(service->open, 1);
	assert_int_equal(service->opened, 3);
	assert_int_equal(service_failed(service), 1);
	assert_int_equal(service->failed[SERVICE_REFUSED], 1);
	assert_int_equal(service->exchanges, 2);
	assert_int_equal(service->bytes, 2000);
	assert_int_equal(service->segments, 20);
	assert_int_equal(service->resent, 2);
	assert_int_equal(service->waits[CONNREC_WAIT_SERVER_LOST], 600000);
	assert_int_equal(service_waited_us(service), 4 * 20000 + 2 * 300000 + 2 * 250000);
	assert_string_equal(service_waited_for(service), "loss");
	assert_null(services_others(services));
	services_free(services);
}

/* The shares of three answers of a connection are exact; of more, those between are alike. */
static void
test_answers(void **state)
{
	struct services *services = services_new();
	struct connrec record = record_of("192.0.2.9", 80);
	const struct service *service;

	(void)state;
	set_answers(&record, 3, 100, 900000, 100 + 900000 + 5000);
	services_take(services, &record, false);
	service = services_row(services, 0);
	assert_int_equal(service->answer.count, 3);
	assert_in_range(service_times_share(&service->answer, 50), 4688, 5312);
	assert_int_equal(service_times_share(&service->answer, 95), 900000);
	assert_int_equal(service_times_below(&service->answer, 4096), 1);
	assert_int_equal(service_times_below(&service->answer, 8192), 2);
	assert_int_equal(service->answer.sum_us, 100 + 900000 + 5000);
	assert_int_equal(service_times_max(&service->answer), 900000);
	set_answers(&record, 100, 1000, 2000, 150000);
	services_take(services, &record, false);
	assert_int_equal(service->answer.count, 103);
	assert_in_range(service_times_share(&service->answer, 50), 1400, 1600);
	services_free(services);
}

/* No share is further than 6.25 % from the time that it stands for. */
static void
test_error_of_shares(void **state)
{
	(void)state;
	for (uint64_t us = 1; us < UINT64_C(2000000000); us += us / 7 + 1) {
		struct services *services = services_new();
		struct connrec record = record_of("192.0.2.9", 80);
		int64_t half;

		record.cr_handshake_us = 0;
		services_take(services, &record, false);
		record.cr_handshake_us = (int64_t)us;
		services_take(services, &record, false);
		record.cr_handshake_us = INT64_MAX;
		services_take(services, &record, false);
		half = service_times_share(&services_row(services, 0)->connect, 50);
		assert_true(llabs(half - (int64_t)us) * 16 <= (int64_t)us);
		assert_true(service_times_max(&services_row(services, 0)->connect) == INT64_MAX);
		services_free(services);
	}
	assert_int_equal(service_times_share(&(struct service_times){0}, 95), -1);
	assert_int_equal(service_times_max(&(struct service_times){0}), -1);
}

/* A scan takes half of the rows; services that answer take all; the rest is counted in one row. */
static void
test_bound(void **state)
{
	struct services *services = services_new();
	struct connrec record;

	(void)state;
	for (unsigned port = 1; port <= SERVICES_MAX; port++) {
		record = attempt_at("192.0.2.9", port, "refused");
		services_take(services, &record, false);
	}
	assert_int_equal(services_count(services), SERVICES_UNOPENED_MAX);
	assert_int_equal(services_others(services)->connections, SERVICES_MAX - SERVICES_UNOPENED_MAX);
	for (unsigned port = 1; port <= SERVICES_MAX; port++) {
		record = record_of("192.0.2.10", port);
		services_take(services, &record, false);
	}
	assert_int_equal(services_count(services), SERVICES_MAX);
	assert_int_equal(services_others(services)->connections, SERVICES_MAX);
	assert_int_equal(services_others(services)->opened, SERVICES_MAX / 2);
	/* A known service keeps its row. */
	record = record_of("192.0.2.10", 1);
	services_take(services, &record, false);
	assert_int_equal(services_others(services)->connections, SERVICES_MAX);
	assert_int_equal(services_list(services, 0, list), SERVICES_MAX + 1);
	assert_string_equal(list[SERVICES_MAX]->address, "others");
	services_free(services);
}

/* In a full table a service without records makes room, and nothing that was counted is lost. */
static void
test_room(void **state)
{
	struct services *services = services_new();
	struct connrec record;
	uint64_t connections = 0;

	(void)state;
	for (unsigned port = 1; port <= SERVICES_MAX; port++) {
		record = record_of("192.0.2.10", port);
		services_take(services, &record, false);
	}
	for (unsigned port = 1; port <= 1000; port++) {
		record = record_of("192.0.2.11", port);
		record.cr_end = SECOND + SERVICES_IDLE_NS;
		services_take(services, &record, false);
	}
	assert_int_equal(services_count(services), SERVICES_MAX);
	assert_int_equal(services_others(services)->connections, 1000);
	for (size_t i = 0; i < services_count(services); i++)
		connections += services_row(services, i)->connections;
	assert_int_equal(connections, SERVICES_MAX);
	record = record_of("192.0.2.11", 1000); /* it is found although the lists have changed */
	services_take(services, &record, false);
	assert_int_equal(services_others(services)->connections, 1000);
	services_free(services);
}

static void
test_order(void **state)
{
	struct services *services = services_new(), *copy;
	struct connrec record = record_of("192.0.2.1", 1);

	(void)state;
	record.cr_server_us = 4000000;
	services_take(services, &record, false);
	record = attempt_at("192.0.2.2", 2, "refused");
	services_take(services, &record, false);
	record = record_of("192.0.2.3", 3);
	record.cr_end = 2 * SECOND;
	services_take(services, &record, false);
	copy = services_copy(services);
	services_free(services);
	assert_int_equal(services_list(copy, 0, list), 3);
	assert_int_equal(list[0]->port, 2); /* a failure counts more than 4 s */
	assert_int_equal(list[1]->port, 1);
	assert_int_equal(list[2]->port, 3);
	assert_int_equal(services_list(copy, 2 * SECOND, list), 3);
	assert_int_equal(list[0]->port, 3);
	services_free(copy);
}

static const char *
line_of(const struct services *services)
{
	static char line[SERVICE_LINE_MAX];

	*service_put_line(services_row(services, 0), line) = '\0';
	return line;
}

static void
test_lines(void **state)
{
	struct services *services = services_new();
	struct connrec record = record_of("2001:db8::9", 443);
	char titles[SERVICE_LINE_MAX];

	(void)state;
	*service_put_titles(titles) = '\0';
	assert_string_equal(titles, " CONNS FAILED CONNECT    P95    MAX ANSWER    P95    MAX RESENT  BYTES WAITED"
				    " FOR     SERVICE\n");
	snprintf(record.cr_name, sizeof record.cr_name, "%s", "a\x1b[31m.example");
	snprintf(record.cr_name_from, sizeof record.cr_name_from, "%s", "tls");
	record.cr_client_segments = 3000;
	record.cr_client_resent = 1;
	set_answers(&record, 1, 300000, 300000, 300000);
	services_take(services, &record, false);
	assert_string_equal(line_of(services),
			    "     1     0%  20.0ms 20.0ms 20.0ms  300ms  300ms  300ms  <0.1%      0  320ms server "
			    " 2001:db8::9 port 443/tcp a\\x1b[31m.example\n");
	snprintf(record.cr_name, sizeof record.cr_name, "%s", "query.example");
	snprintf(record.cr_name_from, sizeof record.cr_name_from, "%s", "dns");
	services_take(services, &record, false);
	assert_null(strstr(line_of(services), "..."));
	snprintf(record.cr_name_from, sizeof record.cr_name_from, "%s", "tls");
	services_take(services, &record, false);
	assert_non_null(strstr(line_of(services), "a\\x1b[31m.example, ...\n"));
	services_free(services);

	services = services_new();
	record = attempt_at("192.0.2.9", 81, "no-answer");
	record.cr_connect_us = 0;
	services_take(services, &record, false);
	assert_string_equal(line_of(services),
			    "     1   100%       -      -      -      -      -      -     0%      0    0us -       "
			    "192.0.2.9 port 81/tcp\n");
	services_free(services);
}

static void
test_json(void **state)
{
	struct services *services = services_new();
	struct connrec record = attempt_at("192.0.2.9", 81, "no-answer");
	char bytes[8192];
	struct text_buffer text = {.bytes = bytes, .size = sizeof bytes};
	struct json json = text_json(&text);

	(void)state;
	services_take(services, &record, false);
	json_begin_object(&json, NULL);
	service_add_members(&json, services_row(services, 0));
	json_end_object(&json);
	bytes[text.used] = '\0';
	assert_string_equal(
	    bytes, "{\"address\":\"192.0.2.9\",\"port\":81,\"protocol\":6,\"connections\":1,\"open\":0,\"opened\":0,"
		   "\"failed\":1,\"refused\":0,\"unreachable\":0,\"no_answer\":1,\"reset_by_client\":0,"
		   "\"reset_by_server\":0,\"exchanges\":0,\"slow_answers\":0,\"bytes\":0,\"segments\":0,\"resent\":0,"
		   "\"connect_us\":{\"p50\":-1,\"p95\":-1,\"max\":-1},\"answer_us\":{\"p50\":-1,\"p95\":-1,\"max\":-1},"
		   "\"waited_us\":20000,\"waited\":\"SYN\",\"waits_us\":{\"connect\":20000,\"path\":0,\"network\":0,"
		   "\"client\":0,\"server\":0,\"client_sending\":0,\"server_sending\":0,\"client_window\":0,"
		   "\"server_window\":0,\"client_lost\":0,\"server_lost\":0,\"closing\":0,\"unknown\":0}}");
	services_free(services);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts), cmocka_unit_test(test_answers), cmocka_unit_test(test_error_of_shares),
	    cmocka_unit_test(test_bound),  cmocka_unit_test(test_room),	   cmocka_unit_test(test_order),
	    cmocka_unit_test(test_lines),  cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
