/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_filter.h"

#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/match/filter_size.h"
#include "tools/control_client.h"

#define SNAPLEN 262144

/* Most instructions that netobsd takes for a link type. */
#define PROGRAM_MAX 4096u

#define LINK_TYPES_MAX 16u

/* --------------------------------------------------------------------------------------------------------- programs */

static bool
filter_fail(int dlt, const char *reason, char error[WRITE_FILTER_ERROR_MAX])
{
	const char *name = pcap_datalink_val_to_name(dlt);

	snprintf(error, WRITE_FILTER_ERROR_MAX, "bad filter for link type %s: %.*s; pcap-filter(7) describes filters",
		 name != NULL ? name : "without a name", PCAP_ERRBUF_SIZE, reason);
	return false;
}

/* Compiles with optimization, to which it is an error that a filter rejects all frames of a link type: then without. */
static bool
filter_compile(const char *filter, int dlt, struct bpf_program *program, char error[WRITE_FILTER_ERROR_MAX])
{
	pcap_t *dead = pcap_open_dead(dlt, SNAPLEN);
	bool good;

	if (dead == NULL)
		return filter_fail(dlt, "netobsctl is out of memory", error);
	good = pcap_compile(dead, program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0 ||
	       pcap_compile(dead, program, filter, 0, PCAP_NETMASK_UNKNOWN) == 0;
	if (!good)
		filter_fail(dlt, pcap_geterr(dead), error);
	pcap_close(dead);
	return good;
}

/* Whether netobsd takes the program: none of libpcap's jumps back except those of "protochain". */
static bool
filter_check_program(const struct bpf_program *program, int dlt, char error[WRITE_FILTER_ERROR_MAX])
{
	if (program->bf_len > PROGRAM_MAX)
		return filter_fail(dlt, "it has more than 4096 instructions", error);
	for (unsigned i = 0; i < program->bf_len; i++)
		if (program->bf_insns[i].code == (BPF_JMP | BPF_JA) && program->bf_insns[i].k > PROGRAM_MAX)
			return filter_fail(dlt, "it has a loop: netobsd does not follow \"protochain\"", error);
	return true;
}

static bool
filter_put_program(const struct bpf_program *program, int dlt, char programs[WRITE_FILTER_MAX])
{
	size_t used = strlen(programs);

	used += (size_t)snprintf(programs + used, WRITE_FILTER_MAX - used, "%s%d %u", used > 0 ? " " : "", dlt,
				 program->bf_len);
	for (unsigned i = 0; i < program->bf_len && used < WRITE_FILTER_MAX; i++) {
		const struct bpf_insn *insn = &program->bf_insns[i];

		used += (size_t)snprintf(programs + used, WRITE_FILTER_MAX - used, ",%u %u %u %u", insn->code, insn->jt,
					 insn->jf, insn->k);
	}
	return used < WRITE_FILTER_MAX;
}

bool
write_filter_add(const char *filter, int dlt, char programs[WRITE_FILTER_MAX], char error[WRITE_FILTER_ERROR_MAX])
{
	struct bpf_program program;
	bool good;

	if (!filter_size_check(filter, FILTER_SIZE_CAPTURE_MAX, error, WRITE_FILTER_ERROR_MAX) ||
	    !filter_compile(filter, dlt, &program, error))
		return false;
	good = filter_check_program(&program, dlt, error);
	if (good && !filter_put_program(&program, dlt, programs))
		good = filter_fail(dlt, "it is too long", error);
	pcap_freecode(&program);
	return good;
}

/* ------------------------------------------------------------------------------------------------------- link types */

/* Parses {"link_types":[1,113]}.  Returns the number of types, -1 if the text is another one. */
static int
filter_parse_link_types(const char *text, int types[LINK_TYPES_MAX])
{
	static const char begin[] = "{\"link_types\":[";
	unsigned count = 0;
	char *end;

	if (strncmp(text, begin, sizeof begin - 1) != 0)
		return -1;
	for (text += sizeof begin - 1; *text >= '0' && *text <= '9' && count < LINK_TYPES_MAX; text = end) {
		unsigned long type = strtoul(text, &end, 10);

		if (type > UINT16_MAX)
			return -1;
		types[count++] = (int)type;
		end += *end == ',';
	}
	return strcmp(text, "]}\n") == 0 ? (int)count : -1;
}

bool
write_filter_compile(const char *socket, const char *filter, char programs[WRITE_FILTER_MAX],
		     char error[WRITE_FILTER_ERROR_MAX])
{
	int types[LINK_TYPES_MAX], count;
	char reply[1024];

	if (!client_read_reply(socket, "write --link-types\n", reply, sizeof reply, error, WRITE_FILTER_ERROR_MAX))
		return false;
	count = filter_parse_link_types(reply, types);
	if (count < 0) {
		snprintf(error, WRITE_FILTER_ERROR_MAX, "the process listening there is not netobsd");
		return false;
	}
	if (count == 0)
		types[count++] = DLT_EN10MB; /* finds mistakes */
	programs[0] = '\0';
	for (int i = 0; i < count; i++)
		if (!write_filter_add(filter, types[i], programs, error))
			return false;
	return true;
}
