/* SPDX-License-Identifier: BSD-2-Clause */
/* The common face of what frames come from: files (replay.h) and interfaces (live.h). */
#ifndef NETOBS_DAEMON_CAPTURE_INPUT_H
#define NETOBS_DAEMON_CAPTURE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch;
struct config;
struct interface;

enum input_result {
	INPUT_DONE,    /* everything has been read, or the loop was stopped */
	INPUT_DAMAGED, /* the input broke off; what came before was observed, a message is logged */
	INPUT_FAILED,  /* nothing is left to read from; a message is logged */
};

/* 64 bits, never wrap. */
struct input_counters {
	uint64_t received;	    /* live: frames that passed the kernel's filter, lost ones included */
	uint64_t dropped;	    /* live: of them, lost for want of buffer */
	uint64_t interface_dropped; /* live: lost by interfaces before any filter */
	uint64_t filtered;	    /* files: records that the filter left out */
	uint64_t damaged;	    /* files that broke off */
};

enum input_interface_state {
	INTERFACE_UP,
	INTERFACE_DOWN,
	INTERFACE_LOST,	   /* waited for */
	INTERFACE_REFUSED, /* it is back, but may not be opened any more */
	INTERFACE_STATES
};

/* One of the interfaces that are observed. */
struct input_interface {
	const struct interface *interface;
	int link_type; /* a DLT_ value */
	enum input_interface_state state;
	uint64_t received, dropped, interface_dropped; /* as in struct input_counters */
	uint64_t losses; /* how often it was lost */
};

typedef void input_visitor(void *context, const struct input_interface *interface);

struct input;

struct input_class {
	/* Reads what comes before the frames: from here on bytes are parsed that a stranger may have written, so
	 * privileges are dropped between opening and this.  False with a message logged. */
	bool (*begin)(struct input *input);
	/* The link types (DLT_ values), one per file or interface, once it has begun; the memory is the input's. */
	const int *(*link_types)(const struct input *input, size_t *count);
	/* Hands every frame to the batch, until there is none or the loop is stopped.  To be called once. */
	enum input_result (*run)(struct input *input, struct batch *batch);
	/* The filter has changed: takes the configuration's new one for every file or interface, or, with a message
	 * logged and false, for none. */
	bool (*filter)(struct input *input, const struct config *config);
	/* Brings the counters up to date. */
	const struct input_counters *(*counters)(struct input *input);
	/* Calls `visit` for every interface, in the order of the configuration.  NULL where there is none: files. */
	void (*visit)(struct input *input, input_visitor *visit, void *context);
	void (*free)(struct input *input);
};

struct input {
	const struct input_class *class;
};

static inline bool
input_begin(struct input *input)
{
	return input->class->begin(input);
}

static inline const int *
input_link_types(const struct input *input, size_t *count)
{
	return input->class->link_types(input, count);
}

static inline enum input_result
input_run(struct input *input, struct batch *batch)
{
	return input->class->run(input, batch);
}

static inline bool
input_filter(struct input *input, const struct config *config)
{
	return input->class->filter(input, config);
}

static inline const struct input_counters *
input_counters(struct input *input)
{
	return input->class->counters(input);
}

static inline void
input_visit(struct input *input, input_visitor *visit, void *context)
{
	if (input->class->visit != NULL)
		input->class->visit(input, visit, context);
}

static inline void
input_free(struct input *input)
{
	if (input != NULL)
		input->class->free(input);
}

#endif
