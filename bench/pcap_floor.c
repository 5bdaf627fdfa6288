/* SPDX-License-Identifier: BSD-2-Clause */
/* pcap_floor: reads a capture with a bare pcap_loop() and one byte of each packet: the cost of any reader. */
#include <pcap/pcap.h>
#include <stdio.h>

static unsigned long packets, touched;

static void
count_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
	(void)user;
	packets++;
	touched += header->caplen > 0 ? bytes[0] : 0;
}

int
main(int argc, char **argv)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = argc == 2 ? pcap_open_offline(argv[1], error) : NULL;

	if (pcap == NULL) {
		fprintf(stderr, "usage: pcap_floor FILE\n");
		return 1;
	}
	if (pcap_loop(pcap, -1, count_packet, NULL) < 0)
		return 2;
	printf("packets %lu touched %lu\n", packets, touched);
	pcap_close(pcap);
	return 0;
}
