/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_summary.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "records/service_lines.h"

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
report_put_services_text(FILE *file, const struct report_findings *findings)
{
	char line[SERVICE_LINE_MAX];

	if (findings->services_count == 0)
		return;
	fputs("\n", file);
	fwrite(line, 1, (size_t)(service_put_titles(line) - line), file);
	for (size_t i = 0; i < findings->services_count && i < SERVICES_SHOWN; i++)
		fwrite(line, 1, (size_t)(service_put_line(findings->services[i], line) - line), file);
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
	for (size_t i = 0; i < findings->services_count; i++) {
		json_break_line(&json);
		json_begin_object(&json, NULL);
		service_add_members(&json, findings->services[i]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	fputs("\n", file);
	return fflush(file) == 0 && !ferror(file);
}
