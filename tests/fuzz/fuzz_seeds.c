/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_seeds DIRECTORY MOST FILE...: writes the frames of capture files as inputs of fuzz_frame, at most MOST of each
 * file, each named after the file and its number there.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_link_types.h"

static int
link_index(int dlt)
{
	for (int i = 0; i < 32; i++)
		if (fuzz_link_types[i] == dlt)
			return i;
	return -1;
}

static void
write_seed(const char *path, int first, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (file == NULL || fputc(first, file) == EOF || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static void
seeds_of(const char *directory, unsigned most, const char *path)
{
	char error[PCAP_ERRBUF_SIZE], seed[4096];
	struct pcap_pkthdr *header;
	const char *name = strrchr(path, '/');
	const uint8_t *bytes;
	pcap_t *capture = pcap_open_offline(path, error);
	unsigned extra;

	if (capture == NULL)
		return; /* some captures are unreadable on purpose */
	for (unsigned i = 1; i <= most && pcap_next_ex(capture, &header, &bytes) == 1; i++) {
		if (link_index(pcap_datalink(capture)) < 0)
			break;
		extra = header->len > header->caplen ? (header->len - header->caplen + 309) / 310 : 0;
		snprintf(seed, sizeof seed, "%s/%s-%u", directory, name != NULL ? name + 1 : path, i);
		write_seed(seed, link_index(pcap_datalink(capture)) | (int)(extra < 7 ? extra : 7) << 5, bytes,
			   header->caplen);
	}
	pcap_close(capture);
}

int
main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: %s DIRECTORY MOST FILE...\n", argv[0]);
		return 1;
	}
	for (int i = 3; i < argc; i++)
		seeds_of(argv[1], (unsigned)strtoul(argv[2], NULL, 10), argv[i]);
	return 0;
}
