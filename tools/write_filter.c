/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_filter.h"

#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "formulas/match/filter_text.h"
#include "tools/json_reader.h"

#define SNAPLEN 262144

/* Most instructions that netobsd takes for a link type. */
#define PROGRAM_MAX 4096u

#define LINK_TYPES_MAX       16u
#define LINK_TYPES_REPLY_MAX 1024u

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

/* The link types of netobsd.  Returns their number, 0 with `error` on failure; without any, that of Ethernet, which
 * finds mistakes. */
static unsigned
filter_read_link_types(const char *socket, int types[LINK_TYPES_MAX], char error[WRITE_FILTER_ERROR_MAX])
{
	json_t *lines =
	    json_read_reply(socket, "write --link-types\n", LINK_TYPES_REPLY_MAX, error, WRITE_FILTER_ERROR_MAX);
	const json_t *list = json_object_get(json_array_get(lines, 0), "link_types");
	unsigned count = 0;

	for (; count < LINK_TYPES_MAX && json_is_integer(json_array_get(list, count)); count++)
		types[count] = (int)json_integer_value(json_array_get(list, count));
	if (lines != NULL && (!json_is_array(list) || count < json_array_size(list))) {
		snprintf(error, WRITE_FILTER_ERROR_MAX, "the process listening there is not netobsd");
		count = 0;
	} else if (lines != NULL && count == 0) {
		types[count++] = DLT_EN10MB;
	}
	json_decref(lines);
	return count;
}

bool
write_filter_compile(const char *socket, const char *filter, char programs[WRITE_FILTER_MAX],
		     char error[WRITE_FILTER_ERROR_MAX])
{
	int types[LINK_TYPES_MAX];
	unsigned count = filter_read_link_types(socket, types, error);

	programs[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		if (!write_filter_add(filter, types[i], programs, error))
			return false;
	return count > 0;
}
