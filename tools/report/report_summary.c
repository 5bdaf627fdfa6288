/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_summary.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* Services in the table. */
#define SERVICES_SHOWN 20u

static bool
report_finding_is_caveat(const struct report_finding *finding)
{
	return strcmp(finding->kind, "capture") == 0;
}

static bool
report_finding_is_wrong(const struct report_finding *finding)
{
	return finding->text[0] != '\0' && finding->cost_us > 0 && !finding->harmless &&
	       !report_finding_is_caveat(finding);
}

int
report_summary_status(const struct report_findings *findings)
{
	bool blind = false;

	for (size_t i = 0; i < REPORT_FINDINGS; i++) {
		const struct report_finding *finding = &findings->list[i];

		if (report_finding_is_wrong(finding))
			return REPORT_STATUS_WRONG;
		blind |=
		    finding->text[0] != '\0' && report_finding_is_caveat(finding) && finding->cost_us >= REPORT_BLIND;
	}
	return blind ? REPORT_STATUS_UNDECIDED : 0;
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* Bytes of the capture are escaped. */
static void
report_put_plain(FILE *file, const char *text)
{
	char bytes[sizeof(((struct report_finding *)0)->text) * 4 + 64];
	char *end = put_plain_text(bytes, text, strlen(text));

	fwrite(bytes, 1, (size_t)(end - bytes), file);
}

static void
report_put_examples(FILE *file, const struct report_capture *capture, const struct report_finding *finding)
{
	for (size_t e = 0; e < finding->evidence_count && e < 3; e++) {
		const struct report_record *record = &capture->records.list[finding->evidence[e].record];

		fprintf(file, "%s%s port %u", e == 0 ? "    for example " : ", ", record->ends[REPORT_CLIENT].address,
			record->ends[REPORT_CLIENT].port);
		if (finding->evidence[e].frame != 0)
			fprintf(file, " (packet %" PRIu64 ")", finding->evidence[e].frame);
	}
	if (finding->evidence_count > 0)
		fputs("\n", file);
}

static void
report_put_finding_text(FILE *file, const struct report_capture *capture, const struct report_finding *finding,
			unsigned number)
{
	fprintf(file, "%u. ", number);
	report_put_plain(file, finding->text);
	fputs("\n", file);
	report_put_examples(file, capture, finding);
}

static void
report_put_duration(FILE *file, uint64_t us)
{
	if (us >= 1000000)
		fprintf(file, " %7.2fs", (double)us / 1e6);
	else
		fprintf(file, " %6.1fms", (double)us / 1e3);
}

/* The class of waits that has the largest share of a service, in a word. */
static const char *
report_largest_wait(const struct report_service *service)
{
	static const char *const names[] = {"nothing",	      "connect",	"path",	       "network",
					    "client program", "server program", "slow sender", "closed window",
					    "loss",	      "closing",	"unknown"};
	const struct report_waits *w = &service->waits;
	uint64_t us[] = {0,
			 w->connect,
			 w->path,
			 w->network,
			 w->program[REPORT_CLIENT],
			 w->program[REPORT_SERVER],
			 w->sending[0] + w->sending[1],
			 w->window[0] + w->window[1],
			 w->lost[0] + w->lost[1],
			 w->closing,
			 w->unknown};
	size_t largest = 0;

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
		if (us[i] > us[largest])
			largest = i;
	return names[largest];
}

static void
report_put_services_text(FILE *file, const struct report_findings *findings)
{
	if (findings->services_count == 0)
		return;
	fprintf(file, "\n%-6s %-9s %8s %8s %10s %10s  %s\n", "CONNS", "FAILED", "CONNECT", "SERVER", "LOST", "BYTES",
		"WAITED FOR      SERVICE");
	for (size_t i = 0; i < findings->services_count && i < SERVICES_SHOWN; i++) {
		const struct report_service *service = &findings->services[i];

		fprintf(file, "%-6" PRIu64 " %-9" PRIu64, service->connections, service->failed);
		report_put_duration(file, service->opened != 0 ? service->waits.connect / service->opened : 0);
		report_put_duration(
		    file, service->exchanges != 0 ? service->waits.program[REPORT_SERVER] / service->exchanges : 0);
		report_put_duration(file, service->waits.lost[0] + service->waits.lost[1]);
		fprintf(file, "   %10" PRIu64 "  %-15s %s port %u/%s\n", service->bytes, report_largest_wait(service),
			service->address, service->port,
			service->protocol == IPPROTO_TCP   ? "tcp"
			: service->protocol == IPPROTO_UDP ? "udp"
							   : "sctp");
	}
	if (findings->services_count > SERVICES_SHOWN)
		fprintf(file, "and %zu other services\n", findings->services_count - SERVICES_SHOWN);
}

bool
report_summary_write_text(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
			  const struct report_input *input)
{
	unsigned number = 0;

	(void)input;
	fprintf(file, "%" PRIu64 " packets in %.3f s, %zu connections\n\n", capture->volume.frames,
		(double)(capture->volume.last - capture->volume.first) / 1e9, capture->records.count);
	for (size_t i = 0; i < REPORT_FINDINGS; i++)
		if (report_finding_is_wrong(&findings->list[i]))
			report_put_finding_text(file, capture, &findings->list[i], ++number);
	if (number == 0)
		fputs("Nothing wrong was found.\n", file);
	for (size_t i = 0; i < REPORT_FINDINGS; i++) {
		const struct report_finding *finding = &findings->list[i];

		if (finding->text[0] == '\0' || report_finding_is_wrong(finding))
			continue;
		fputs(report_finding_is_caveat(finding) ? "Capture: " : "Harmless: ", file);
		report_put_plain(file, finding->text);
		fputs("\n", file);
	}
	report_put_services_text(file, findings);
	return fflush(file) == 0 && !ferror(file);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void
report_add_end(struct json *json, const char *name, const struct report_end *end)
{
	json_begin_object(json, name);
	json_add_string(json, "address", end->address);
	json_add_unsigned(json, "port", end->port);
	json_end_object(json);
}

static void
report_add_example(struct json *json, const struct report_record *record, uint64_t frame)
{
	json_begin_object(json, NULL);
	if (frame != 0)
		json_add_unsigned(json, "packet", frame);
	report_add_end(json, "client", &record->ends[REPORT_CLIENT]);
	report_add_end(json, "server", &record->ends[REPORT_SERVER]);
	json_end_object(json);
}

static void
report_add_finding(struct json *json, const struct report_capture *capture, const struct report_finding *finding)
{
	json_break_line(json);
	json_begin_object(json, NULL);
	json_add_string(json, "finding", finding->kind);
	json_add_string(json, "side", finding->side);
	if (finding->harmless)
		json_add_bool(json, "harmless", true);
	json_add_unsigned(json, "count", finding->count);
	json_add_unsigned(json, "of", finding->of);
	json_add_unsigned(json, "cost_us", finding->cost_us);
	json_add_unsigned(json, "waited_us", finding->waited_us);
	if (finding->evidence_count > 0)
		report_add_end(json, "where", &capture->records.list[finding->evidence[0].record].ends[REPORT_SERVER]);
	json_add_string(json, "text", finding->text);
	json_begin_array(json, "examples");
	for (size_t e = 0; e < finding->evidence_count; e++)
		report_add_example(json, &capture->records.list[finding->evidence[e].record],
				   finding->evidence[e].frame);
	json_end_array(json);
	json_end_object(json);
}

static void
report_add_waits(struct json *json, const struct report_waits *waits)
{
	json_begin_object(json, "waits_us");
	json_add_unsigned(json, "connect", waits->connect);
	json_add_unsigned(json, "path", waits->path);
	json_add_unsigned(json, "network", waits->network);
	json_add_unsigned(json, "client", waits->program[REPORT_CLIENT]);
	json_add_unsigned(json, "server", waits->program[REPORT_SERVER]);
	json_add_unsigned(json, "client_sending", waits->sending[REPORT_CLIENT]);
	json_add_unsigned(json, "server_sending", waits->sending[REPORT_SERVER]);
	json_add_unsigned(json, "client_window", waits->window[REPORT_CLIENT]);
	json_add_unsigned(json, "server_window", waits->window[REPORT_SERVER]);
	json_add_unsigned(json, "client_lost", waits->lost[REPORT_CLIENT]);
	json_add_unsigned(json, "server_lost", waits->lost[REPORT_SERVER]);
	json_add_unsigned(json, "closing", waits->closing);
	json_add_unsigned(json, "unknown", waits->unknown);
	json_end_object(json);
}

static void
report_add_service(struct json *json, const struct report_service *service)
{
	json_break_line(json);
	json_begin_object(json, NULL);
	json_add_string(json, "address", service->address);
	json_add_unsigned(json, "port", service->port);
	json_add_unsigned(json, "protocol", service->protocol);
	json_add_unsigned(json, "connections", service->connections);
	json_add_unsigned(json, "failed", service->failed);
	json_add_unsigned(json, "exchanges", service->exchanges);
	json_add_unsigned(json, "bytes", service->bytes);
	json_add_unsigned(json, "resent", service->resent);
	report_add_waits(json, &service->waits);
	json_end_object(json);
}

static void
report_add_findings(struct json *json, const char *name, const struct report_capture *capture,
		    const struct report_findings *findings, bool caveats)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < REPORT_FINDINGS; i++) {
		const struct report_finding *finding = &findings->list[i];

		if (finding->text[0] != '\0' && report_finding_is_caveat(finding) == caveats)
			report_add_finding(json, capture, finding);
	}
	json_end_array(json);
}

bool
report_summary_write_json(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
			  const struct report_input *input)
{
	struct json json = json_to_file(file);

	json_begin_object(&json, NULL);
	json_begin_array(&json, "files");
	for (size_t i = 0; i < input->files_count; i++)
		json_add_string(&json, NULL, input->files[i]);
	json_end_array(&json);
	json_add_unsigned(&json, "packets", capture->volume.frames);
	json_add_unsigned(&json, "duration_us", (capture->volume.last - capture->volume.first) / 1000);
	json_add_unsigned(&json, "connections", capture->records.count);
	report_add_findings(&json, "findings", capture, findings, false);
	report_add_findings(&json, "caveats", capture, findings, true);
	json_begin_array(&json, "services");
	for (size_t i = 0; i < findings->services_count; i++)
		report_add_service(&json, &findings->services[i]);
	json_end_array(&json);
	json_end_object(&json);
	fputs("\n", file);
	return fflush(file) == 0 && !ferror(file);
}
