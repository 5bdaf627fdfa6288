/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pulls a capture from the flight memory of a running netobsd, and writes it to a file that is complete or absent, see
 * base/output_file.h.  A filter, in the language of pcap-filter(7), is compiled here, as tcpdump does, for each link
 * type of the flight memory of netobsd, which runs the programs.
 */
#ifndef NETOBS_TOOLS_WRITE_CLIENT_H
#define NETOBS_TOOLS_WRITE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of a capture whose size the user has not limited. */
#define WRITE_SIZE_MAX (UINT64_C(4) << 30)

struct write_request {
	const char *socket;    /* path of the control socket */
	const char *arguments; /* of the request "write", such as "--cid=42 --format=pcapng" */
	const char *programs;  /* the filter, as write_filter_compile() has made it; NULL: all frames */
	const char *path;      /* "-": standard output */
	uint64_t most_bytes;   /* the file is not made larger: an error; 0: WRITE_SIZE_MAX */
};

struct written_capture {
	uint64_t frames, bytes;
	uint64_t lost; /* frames of the selection that the ring no longer had */
	bool cut;      /* frames of the connection were overwritten before */
	/* If there is no capture: 0 if netobsd rejects the request, ENODATA if it has no frame, EIO on another
	 * failure. */
	int failure;
	size_t reason; /* of an error of the file: where the text of the error has its reason, after the name; else 0 */
};

/* False with `error`; then there is no file, and `written->bytes` is what was received: more than `most_bytes` if
 * the capture is larger. */
bool write_client_run(const struct write_request *request, struct written_capture *written, char *error, size_t size);

/* Pulls the packets of a connection into a file without a name in $TMPDIR (/tmp without it): its descriptor, or -1
 * with `error` and `written->failure`. */
int write_client_open(const char *socket, uint64_t cid, struct written_capture *written, char *error, size_t size);

/* Most bytes of the programs in text. */
#define WRITE_FILTER_MAX ((size_t)60 * 1024)

#define WRITE_FILTER_ERROR_MAX 1024u

/* Stores the programs of a filter for the link types of the netobsd that listens on `socket`, in the text of requests.
 * False with `error`. */
bool write_filter_compile(const char *socket, const char *filter, char programs[WRITE_FILTER_MAX],
			  char error[WRITE_FILTER_ERROR_MAX]);

/* Appends the program of a filter for a link type (DLT_...) to `programs`.  False with `error`. */
bool write_filter_add(const char *filter, int dlt, char programs[WRITE_FILTER_MAX], char error[WRITE_FILTER_ERROR_MAX]);

#endif
