/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_seeds DIRECTORY MOST FILE...: writes the frames of capture files as inputs of fuzz_frame, at most MOST of each
 * file, each named after the file and its number there.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
link_index(int dlt)
{
	switch (dlt) {
	case DLT_EN10MB:
		return 0;
	case DLT_LINUX_SLL:
		return 1;
	case DLT_LINUX_SLL2:
		return 2;
	case DLT_NULL:
		return 3;
	case DLT_LOOP:
		return 4;
	case DLT_RAW:
		return 5;
	case DLT_IPV4:
		return 6;
	case DLT_IPV6:
		return 7;
	default:
		return -1;
	}
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
		extra = header->len > header->caplen ? (header->len - header->caplen + 69) / 70 : 0;
		snprintf(seed, sizeof seed, "%s/%s-%u", directory, name != NULL ? name + 1 : path, i);
		write_seed(seed, link_index(pcap_datalink(capture)) | (int)(extra < 31 ? extra : 31) << 3, bytes,
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
