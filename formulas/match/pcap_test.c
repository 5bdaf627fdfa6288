/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/pcap_test.h"

#include <pcap/pcap.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "dissect/frame.h"
#include "dissect/header_fields.h"
#include "formulas/match/filter_text.h"

/* The link types that libpcap may report: dissect_link_supported() selects. */
#define LINK_TYPES_END 300

/* libpcap's default; a program returns it for a match. */
#define SNAPSHOT_LENGTH 262144

/* Most instructions of a filter that is compiled at once for all link types, which takes about 10 ms, and of one that
 * is optimized. */
#define SIZE_AT_ONCE_MAX   256u
#define SIZE_OPTIMIZED_MAX 1024u

struct pcap_program {
	bool good; /* the link type allows the filter */
	struct bpf_program program;
};

/* Grows by link types that first occur in a frame; shared by all threads. */
struct pcap_programs {
	_Atomic(struct pcap_program *) of[LINK_TYPES_END]; /* each is set once */
	pthread_mutex_t lock;				   /* of additions */
};

struct pcap_test {
	struct pcap_test *next;
	struct pcap_programs *programs;
	unsigned size, total; /* estimated instructions for a link type, and those of the whole list */
	char filter[];
};

/* False if out of memory; otherwise sets `good`. */
static bool
pcap_program_compile(struct pcap_program *program, const struct pcap_test *test, int dlt, char *message,
		     size_t message_size)
{
	bool raw = dlt == DLT_RAW_OPENBSD || dlt == DLT_RAW_FILE;
	pcap_t *pcap = pcap_open_dead(raw ? DLT_RAW : dlt, SNAPSHOT_LENGTH);

	if (pcap == NULL)
		return false;
	program->good = pcap_compile(pcap, &program->program, test->filter, test->size <= SIZE_OPTIMIZED_MAX,
				     PCAP_NETMASK_UNKNOWN) == 0;
	if (!program->good && message[0] == '\0')
		snprintf(message, message_size, "libpcap does not accept the filter: %s", pcap_geterr(pcap));
	pcap_close(pcap);
	return true;
}

/* Compiles for one more link type.  NULL if out of memory, and nothing is added: the next frame tries again.  Sets
 * `message` if the link type does not allow the filter, unless `message` is set. */
static const struct pcap_program *
pcap_test_add(const struct pcap_test *test, int dlt, char *message, size_t message_size)
{
	struct pcap_program *program = calloc(1, sizeof *program);

	if (program == NULL)
		return NULL;
	if (!pcap_program_compile(program, test, dlt, message, message_size)) {
		free(program);
		return NULL;
	}
	atomic_store_explicit(&test->programs->of[dlt], program, memory_order_release);
	return program;
}

static const struct pcap_program *
pcap_test_find(const struct pcap_test *test, int dlt)
{
	if (dlt < 0 || dlt >= LINK_TYPES_END)
		return NULL;
	return atomic_load_explicit(&test->programs->of[dlt], memory_order_acquire);
}

/* Compiles the filter for all link types, or if it is large for one that allows it; false if there is none.  Ethernet
 * comes first: its message is the one that is reported.  The estimate does not know how many addresses a name has. */
static bool
pcap_test_compile(const struct pcap_test *test, char *message, size_t message_size)
{
	char name[FILTER_WORD_SIZE];
	bool looked_up = filter_words_need_lookup(test->filter, name, sizeof name), any = false;

	for (int dlt = 0; dlt < LINK_TYPES_END && !(any && test->size > SIZE_AT_ONCE_MAX); dlt++) {
		int link = dlt == 0 ? DLT_EN10MB : dlt == DLT_EN10MB ? 0 : dlt;
		const struct pcap_program *program;

		if (!dissect_link_supported(link))
			continue;
		program = pcap_test_add(test, link, message, message_size);
		if (program == NULL) {
			snprintf(message, message_size, "out of memory");
			return false;
		}
		any |= program->good;
		if (looked_up && link == DLT_EN10MB && program->program.bf_len > SIZE_AT_ONCE_MAX) {
			snprintf(message, message_size,
				 "the filter is too big for all addresses of \"%.40s\": %u instructions, at most %u",
				 name, program->program.bf_len, SIZE_AT_ONCE_MAX);
			return false;
		}
	}
	return any;
}

/* A large filter is compiled when a link type first occurs: names cannot be looked up then. */
static bool
pcap_test_check_size(struct pcap_test *test, const struct pcap_test *next, char *message, size_t message_size)
{
	char word[FILTER_WORD_SIZE];

	test->size = filter_size_estimate(test->filter);
	test->total = test->size + (next != NULL ? next->total : 0);
	if (!filter_size_check(test->filter, FILTER_SIZE_MAX - (test->total - test->size), message, message_size))
		return false;
	if (test->size <= SIZE_AT_ONCE_MAX || !filter_words_need_lookup(test->filter, word, sizeof word))
		return true;
	snprintf(message, message_size,
		 "the filter is too big for \"%.40s\": about %u instructions, at most %u with a name", word, test->size,
		 SIZE_AT_ONCE_MAX);
	return false;
}

static struct pcap_test *
pcap_test_allocate(const char *filter)
{
	size_t size = strlen(filter) + 1;
	struct pcap_test *test = calloc(1, sizeof *test + size);

	if (test == NULL)
		return NULL;
	test->programs = calloc(1, sizeof *test->programs);
	if (test->programs == NULL) {
		free(test);
		return NULL;
	}
	pthread_mutex_init(&test->programs->lock, NULL);
	memcpy(test->filter, filter, size);
	return test;
}

struct pcap_test *
pcap_test_new(const char *filter, struct pcap_test *next, char *message, size_t message_size)
{
	struct pcap_test *test = pcap_test_allocate(filter);

	snprintf(message, message_size, "%s", test == NULL ? "out of memory" : "");
	if (test == NULL)
		return NULL;
	if (!pcap_test_check_size(test, next, message, message_size) ||
	    !pcap_test_compile(test, message, message_size)) {
		pcap_test_free(test);
		return NULL;
	}
	message[0] = '\0';
	test->next = next;
	return test;
}

void
pcap_test_free(struct pcap_test *test)
{
	while (test != NULL) {
		struct pcap_test *next = test->next;

		for (unsigned dlt = 0; dlt < LINK_TYPES_END; dlt++) {
			struct pcap_program *program =
			    atomic_load_explicit(&test->programs->of[dlt], memory_order_relaxed);

			if (program != NULL)
				pcap_freecode(&program->program);
			free(program);
		}
		pthread_mutex_destroy(&test->programs->lock);
		free(test->programs);
		free(test);
		test = next;
	}
}

/* The first frame of its link type.  NULL if out of memory. */
static __attribute__((noinline, cold)) const struct pcap_program *
pcap_test_add_later(const struct pcap_test *test, int dlt)
{
	const struct pcap_program *program;
	char message[PCAP_ERRBUF_SIZE] = "";

	pthread_mutex_lock(&test->programs->lock);
	program = pcap_test_find(test, dlt);
	if (program == NULL)
		program = pcap_test_add(test, dlt, message, sizeof message);
	pthread_mutex_unlock(&test->programs->lock);
	return program;
}

bool
pcap_test_match(const struct pcap_test *test, const struct frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->len};
	const struct pcap_program *program = pcap_test_find(test, frame->dlt);

	if (program == NULL && test->size > SIZE_AT_ONCE_MAX && frame->dlt < LINK_TYPES_END &&
	    dissect_link_supported(frame->dlt))
		program = pcap_test_add_later(test, frame->dlt);
	return program != NULL && program->good && pcap_offline_filter(&program->program, &header, frame->data) != 0;
}
