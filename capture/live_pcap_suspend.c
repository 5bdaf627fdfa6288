/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/live_pcap_suspend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "capture/live_pcap_open.h"

/* IEEE 802 reserves it for local experiments: frames practically never carry it, and if one does the filter rejects
 * it. */
#define UNUSED_ETHERTYPE ETH_P_802_EX1

static bool
live_pcap_bind_protocol(pcap_t *pcap, uint16_t protocol)
{
	struct sockaddr_ll address = {0};
	socklen_t length = sizeof address;
	int fd = pcap_get_selectable_fd(pcap);

	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return false;
	address.sll_protocol = htons(protocol);
	return bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

bool
live_pcap_suspend(pcap_t *pcap, const char *name, bool shared)
{
	struct bpf_insn reject_all = BPF_STMT(BPF_RET | BPF_K, 0);
	struct bpf_program program = {.bf_len = 1, .bf_insns = &reject_all};

	if (pcap_setfilter(pcap, &program) < 0) {
		log_error("cannot suspend the capture on %s: %s", name, pcap_geterr(pcap));
		return false;
	}
	if (!shared)
		(void)live_pcap_bind_protocol(pcap, UNUSED_ETHERTYPE); /* if it fails, the filter alone is enough */
	return true;
}

bool
live_pcap_resume(const struct config *config, pcap_t *pcap, const char *name, bool shared)
{
	if (!shared && !live_pcap_bind_protocol(pcap, ETH_P_ALL)) {
		log_error("cannot resume the capture on %s: %s", name, strerror(errno));
		return false;
	}
	return live_pcap_set_filter(config, pcap, name);
}

/* pcap_setfilter() would reject the frames in the buffer, too. */
void
live_pcap_end(pcap_t *pcap)
{
	struct sock_filter reject_all = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog program = {.len = 1, .filter = &reject_all};

	(void)setsockopt(pcap_get_selectable_fd(pcap), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
