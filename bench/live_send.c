/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_send: puts the frames of a capture on an interface, over and over, at a steady rate.
 *
 *	live_send IFACE FILE RATE COUNT
 *
 * RATE is frames a second, 0 for as fast as possible.  Frames are sent by the hundred and bypass the queues of the
 * kernel (PACKET_QDISC_BYPASS).  Prints the number of frames sent and the seconds that it took.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BURST 100u

struct frames {
	struct iovec *each;
	size_t count;
};

static void
send_fail(const char *what)
{
	perror(what);
	exit(1);
}

static double
send_clock_seconds(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void
send_store_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
	struct frames *frames = (struct frames *)user;
	struct iovec *frame;
	/* The array doubles whenever it is full. */
	if ((frames->count & (frames->count - 1)) == 0) {
		size_t capacity = frames->count > 0 ? 2 * frames->count : 1;

		frames->each = realloc(frames->each, capacity * sizeof *frames->each);
	}
	if (frames->each == NULL)
		send_fail("realloc");
	frame = &frames->each[frames->count++];
	frame->iov_len = header->caplen;
	frame->iov_base = malloc(header->caplen > 0 ? header->caplen : 1);
	if (frame->iov_base == NULL)
		send_fail("malloc");
	memcpy(frame->iov_base, bytes, header->caplen);
}

static struct frames
send_read_capture(const char *file)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(file, error);
	struct frames frames = {0};

	if (pcap == NULL || pcap_loop(pcap, -1, send_store_frame, (u_char *)&frames) < 0 || frames.count == 0) {
		fprintf(stderr, "live_send: %s: no capture\n", file);
		exit(1);
	}
	pcap_close(pcap);
	return frames;
}

static int
send_open_socket(const char *interface)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(interface)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), bypass = 1;

	if (fd < 0 || address.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof bypass) < 0)
		send_fail(interface);
	return fd;
}

/* Sends `count` frames from number `from` on.  Returns how many were sent. */
static unsigned
send_burst(int fd, const struct frames *frames, uint64_t from, unsigned count)
{
	struct mmsghdr messages[BURST] = {0};
	int sent;

	for (unsigned i = 0; i < count; i++) {
		messages[i].msg_hdr.msg_iov = &frames->each[(from + i) % frames->count];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	do
		sent = sendmmsg(fd, messages, count, 0);
	while (sent < 0 && (errno == EINTR || errno == ENOBUFS || errno == EAGAIN));
	if (sent < 0)
		send_fail("sendmmsg");
	return (unsigned)sent;
}

int
main(int argc, char **argv)
{
	struct frames frames;
	uint64_t count, sent = 0;
	double rate, begin;
	int fd;

	if (argc != 5) {
		fputs("usage: live_send IFACE FILE RATE COUNT\n", stderr);
		return 1;
	}
	frames = send_read_capture(argv[2]);
	rate = strtod(argv[3], NULL);
	count = strtoull(argv[4], NULL, 10);
	fd = send_open_socket(argv[1]);
	begin = send_clock_seconds();
	while (sent < count) {
		unsigned burst = count - sent < BURST ? (unsigned)(count - sent) : BURST;

		/* Sleeping is too coarse for the gap between bursts, and the sender has a processor to itself. */
		while (rate > 0 && (double)sent > (send_clock_seconds() - begin) * rate)
			;
		sent += send_burst(fd, &frames, sent, burst);
	}
	printf("%llu %.6f\n", (unsigned long long)sent, send_clock_seconds() - begin);
	return 0;
}
