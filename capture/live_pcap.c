/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/high_sockets.h"
#include "base/log.h"
#include "capture/link_filters.h"
#include "capture/live_pcap.h"

/*
 * Default size of the kernel's buffer.  It consists of blocks of 256 KiB.  The kernel closes a block when it is full or
 * LIVE_DELIVERY_MS old, however few frames it contains, so 128 blocks hold the frames of a pause of 1.28 s: up to
 * 140,000 frames of 100 bytes a second, with which a block is not full after 10 ms.  libpcap's default of 2 MiB holds
 * 80 ms.
 *
 * In immediate mode each frame takes a piece as long as the longest possible frame: the snapshot length on "any", or 64
 * KiB on a loopback interface.
 */
#define DEFAULT_BUFFER (32 << 20)

/* -------------------------------------------------------------------------------------------------- messages */

/* Lists "any" and the interface names, as far as they fit. */
static void
live_format_interface_names(char *text, size_t size)
{
	struct if_nameindex *list = if_nameindex();
	size_t used = (size_t)snprintf(text, size, "any");

	for (size_t i = 0; list != NULL && list[i].if_name != NULL && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, ", %s", list[i].if_name);
	if_freenameindex(list);
}

/* Edits (insertions, deletions, replacements) that turn one name into the other; both are shorter than IF_NAMESIZE, or
 * the result is IF_NAMESIZE. */
static unsigned
live_name_distance(const char *a, const char *b)
{
	unsigned row[IF_NAMESIZE], columns = (unsigned)strlen(b);

	if (strlen(a) >= IF_NAMESIZE || columns >= IF_NAMESIZE)
		return IF_NAMESIZE;
	for (unsigned column = 0; column <= columns; column++)
		row[column] = column;
	for (; *a != '\0'; a++) {
		unsigned diagonal = row[0]++;

		for (unsigned column = 1; column <= columns; column++) {
			unsigned replaced = diagonal + (*a != b[column - 1]), edited = row[column];

			if (row[column - 1] < edited)
				edited = row[column - 1];
			diagonal = row[column];
			row[column] = replaced < edited + 1 ? replaced : edited + 1;
		}
	}
	return row[columns];
}

/* Finds the interface whose name is most similar.  False if none differs by at most two edits and half of the name. */
static bool
live_find_similar_name(const char *name, char similar[IF_NAMESIZE])
{
	struct if_nameindex *list = if_nameindex();
	unsigned least = strlen(name) < 4 ? (unsigned)strlen(name) / 2 + 1 : 3;
	bool found = false;

	for (size_t i = 0; list != NULL && list[i].if_name != NULL; i++) {
		unsigned distance = live_name_distance(name, list[i].if_name);

		if (distance >= least)
			continue;
		least = distance;
		found = true;
		snprintf(similar, IF_NAMESIZE, "%s", list[i].if_name);
	}
	if_freenameindex(list);
	return found;
}

static bool
live_name_is_of_file(const char *name)
{
	struct stat status;

	return stat(name, &status) == 0 && S_ISREG(status.st_mode);
}

static void
live_log_no_device(const char *name, enum live_open_mode mode)
{
	char names[512], hint[IF_NAMESIZE + 32] = "", similar[IF_NAMESIZE];

	if (mode != LIVE_OPEN_AWAIT && live_name_is_of_file(name)) {
		log_error("no such interface: %s; a file has this name: replay it with -r %s", name, name);
		return;
	}

	live_format_interface_names(names, sizeof names);
	if (live_find_similar_name(name, similar))
		snprintf(hint, sizeof hint, "; did you mean %s?", similar);
	if (mode == LIVE_OPEN_AWAIT)
		log_warning("no such interface: %s; available: %s; waiting for it%s", name, names, hint);
	else
		log_error("no such interface: %s; available: %s%s", name, names, hint);
}

static void
live_log_no_permission(const char *name)
{
	char program[PATH_MAX] = "netobsd";
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	if (length > 0)
		program[length] = '\0';
	log_error("no permission to capture on %s: run as root, or as root once: setcap cap_net_raw=ep %s", name,
		  program);
}

static void
live_log_activate_error(pcap_t *pcap, const char *name, enum live_open_mode mode, int status)
{
	const char *detail = pcap_geterr(pcap);

	switch (status) {
	case PCAP_ERROR_NO_SUCH_DEVICE:
		live_log_no_device(name, mode);
		break;
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		/* libpcap checks the permission first, but permission would not help if the interface does not
		 * exist. */
		if (strcmp(name, "any") != 0 && if_nametoindex(name) == 0)
			live_log_no_device(name, LIVE_OPEN_INITIAL); /* not awaited */
		else
			live_log_no_permission(name);
		break;
	case PCAP_ERROR_IFACE_NOT_UP:
		if (mode == LIVE_OPEN_AWAIT)
			log_warning("interface %s is down; bring it up with: ip link set %s up; waiting for it", name,
				    name);
		else
			log_error("interface %s is down; bring it up with: ip link set %s up", name, name);
		break;
	case PCAP_ERROR:
		log_error("cannot capture on %s: %s", name, *detail != '\0' ? detail : pcap_statustostr(status));
		break;
	default:
		log_error("cannot capture on %s: %s%s%s", name, pcap_statustostr(status), *detail != '\0' ? ": " : "",
			  detail);
		break;
	}
}

/* --------------------------------------------------------------------------------------------------- opening */

int
live_pcap_buffer_size(const struct config *config)
{
	return config->kernel_buffer > 0 ? config->kernel_buffer : DEFAULT_BUFFER;
}

/* These cannot fail before activation, except the time stamp precision if the platform lacks it: pcap_activate()
 * would then deliver microseconds, which capture_make_frame() would take for nanoseconds. */
static bool
live_pcap_configure(pcap_t *pcap, const struct config *config, const char *name)
{
	pcap_set_snaplen(pcap, config->snaplen);
	pcap_set_promisc(pcap, config->promiscuous);
	pcap_set_timeout(pcap, LIVE_DELIVERY_MS);
	pcap_set_immediate_mode(pcap, config->immediate);
	pcap_set_buffer_size(pcap, live_pcap_buffer_size(config));
	if (pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO) == 0)
		return true;
	log_error("cannot capture on %s: no nanosecond time stamps", name);
	return false;
}

bool
live_is_permission_status(int status)
{
	return status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED;
}

/* Whether the failure is normal for an interface that changes. */
static bool
live_is_expected_status(int status)
{
	return status == PCAP_ERROR_NO_SUCH_DEVICE || status == PCAP_ERROR_IFACE_NOT_UP ||
	       live_is_permission_status(status);
}

/* libpcap reports a generic error if the interface is removed or renamed while it is opened.  It may be there again:
 * created anew, with another index, or renamed back, which only the text shows. */
static int
live_refine_status(pcap_t *pcap, const char *name, unsigned index_before, int status)
{
	if (status != PCAP_ERROR || strcmp(name, "any") == 0)
		return status;
	if (index_before == 0 || if_nametoindex(name) != index_before ||
	    strstr(pcap_geterr(pcap), strerror(ENODEV)) != NULL)
		return PCAP_ERROR_NO_SUCH_DEVICE;
	return strstr(pcap_geterr(pcap), strerror(ENETDOWN)) != NULL ? PCAP_ERROR_IFACE_NOT_UP : status;
}

static bool
live_pcap_activate(pcap_t *pcap, const char *name, enum live_open_mode mode, int *error)
{
	unsigned index = if_nametoindex(name);
	int status = pcap_activate(pcap);

	if (status < 0) {
		*error = status = live_refine_status(pcap, name, index, status);
		log_debug(DEBUG_LIVE, "interface %s cannot be opened%s: %s", name,
			  mode == LIVE_OPEN_RETRY ? " yet" : "", pcap_statustostr(status));
		if (mode != LIVE_OPEN_RETRY || !live_is_expected_status(status))
			live_log_activate_error(pcap, name, mode, status);
		return false;
	}
	if (status > 0) {
		const char *detail = pcap_geterr(pcap);

		log_warning("interface %s: %s", name, *detail != '\0' ? detail : pcap_statustostr(status));
	}
	return true;
}

/* Prefers the cooked header with the interface index (SLL2) on "any". */
static void
live_pcap_prefer_sll2(pcap_t *pcap)
{
	if (pcap_datalink(pcap) == DLT_LINUX_SLL)
		(void)pcap_set_datalink(pcap, DLT_LINUX_SLL2); /* otherwise the default header stays */
}

bool
live_pcap_check_filter(const struct config *config, pcap_t *pcap, const char *name)
{
	struct bpf_program program;

	if (config->filter == NULL)
		return true;
	if (!capture_compile_filter(config, pcap, name, &program))
		return false;
	pcap_freecode(&program);
	return true;
}

bool
live_pcap_check_filter_early(const struct config *config, const char *name)
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, config->snaplen);
	bool good = pcap == NULL || live_pcap_check_filter(config, pcap, name);

	if (pcap != NULL)
		pcap_close(pcap);
	return good;
}

/* Without a configured filter one that accepts everything is set, because it has to replace the present one. */
bool
live_pcap_set_filter(const struct config *config, pcap_t *pcap, const char *name)
{
	struct config everything = {.filter = ""};
	struct bpf_program program;
	bool set;

	if (!capture_compile_filter(config->filter != NULL ? config : &everything, pcap, name, &program))
		return false;
	set = pcap_setfilter(pcap, &program) == 0;
	if (!set)
		log_error("cannot filter on %s: %s", name, pcap_geterr(pcap));
	pcap_freecode(&program);
	return set;
}

static bool
live_pcap_set_nonblocking(pcap_t *pcap, const char *name)
{
	char errbuf[PCAP_ERRBUF_SIZE] = "";

	if (pcap_setnonblock(pcap, 1, errbuf) == 0 && pcap_get_selectable_fd(pcap) >= 0)
		return true;
	log_error("cannot capture on %s without blocking: %s", name, errbuf);
	return false;
}

/* Never silently unprotected: a libpcap may open its socket in some other way. */
static bool
live_pcap_check_descriptor(pcap_t *pcap, const char *name)
{
	int fd = pcap_get_selectable_fd(pcap);

	if (high_sockets_include(fd))
		return true;
	log_error("cannot capture on %s: the system-call filter could not tell its socket, descriptor %d, from others",
		  name, fd);
	return false;
}

/* An interface observed twice would report every frame twice. */
static bool
live_is_interface_unique(const struct config *config, const char *name)
{
	unsigned times = 0, any = 0, all = 0;

	for (size_t i = 0; config->interface_names[i] != NULL; i++, all++) {
		times += strcmp(config->interface_names[i], name) == 0;
		any += strcmp(config->interface_names[i], "any") == 0;
	}
	if (times > 1)
		log_error("interface %s is given twice", name);
	else if (any > 0 && all > 1)
		log_error("\"any\" already includes all interfaces and cannot be combined with others");
	return times == 1 && (any == 0 || all == 1);
}

static void
live_debug_opened(const struct config *config, pcap_t *pcap, const char *name)
{
	log_debug(DEBUG_LIVE, "interface %s opened: link type %d, snapshot length %d, buffer %d KiB, descriptor %d%s%s",
		  name, pcap_datalink(pcap), pcap_snapshot(pcap), live_pcap_buffer_size(config) >> 10,
		  pcap_get_selectable_fd(pcap), config->promiscuous ? ", promiscuous" : "",
		  config->immediate ? ", immediate" : "");
}

pcap_t *
live_pcap_open(const struct config *config, const char *name, enum live_open_mode mode, int *status)
{
	char errbuf[PCAP_ERRBUF_SIZE] = "";
	int ignored, *error = status != NULL ? status : &ignored;
	pcap_t *pcap;

	*error = PCAP_ERROR;
	if (mode != LIVE_OPEN_RETRY && !live_is_interface_unique(config, name))
		return NULL;
	pcap = pcap_create(name, errbuf);
	if (pcap == NULL) {
		log_error("cannot capture on %s: %s", name, errbuf);
		return NULL;
	}
	if (live_pcap_configure(pcap, config, name) && live_pcap_activate(pcap, name, mode, error)) {
		live_pcap_prefer_sll2(pcap);
		if (capture_check_link_type(pcap_datalink(pcap), name) &&
		    (config->filter == NULL || live_pcap_set_filter(config, pcap, name)) &&
		    live_pcap_set_nonblocking(pcap, name) && live_pcap_check_descriptor(pcap, name)) {
			live_debug_opened(config, pcap, name);
			return pcap;
		}
	}
	pcap_close(pcap);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------ live pcap suspend */

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

/* ----------------------------------------------------------------------------------------------------------- fanout */

/*
 * The kernel picks an unused number for each group (PACKET_FANOUT_FLAG_UNIQUEID, Linux 4.12), because joining another
 * program's group would take frames away from that program.  The first socket requests the number, the others join the
 * group.
 *
 * To the kernel an interface that was removed and has returned is a new one.  It gets a new group, even if some workers
 * have not closed their sockets in the old group yet.
 */

struct fanout_group {
	uint32_t ifindex;
	int number;
	unsigned members; /* 0: there is no group */
};

struct fanout {
	pthread_mutex_t mutex;
	struct fanout_group groups[];
};

struct fanout *
fanout_new(size_t interfaces)
{
	struct fanout *fanout = calloc(1, sizeof *fanout + interfaces * sizeof fanout->groups[0]);

	if (fanout != NULL)
		pthread_mutex_init(&fanout->mutex, NULL);
	return fanout;
}

void
fanout_free(struct fanout *fanout)
{
	if (fanout == NULL)
		return;
	pthread_mutex_destroy(&fanout->mutex);
	free(fanout);
}

static bool
fanout_set_option(int fd, unsigned number, unsigned flags)
{
	unsigned argument = number | (PACKET_FANOUT_HASH | flags) << 16;

	return setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &argument, sizeof argument) == 0;
}

/* The caller holds the mutex. */
static bool
fanout_create_group(struct fanout_group *group, uint32_t ifindex, int fd)
{
	int number;
	socklen_t length = sizeof number;

	if (!fanout_set_option(fd, 0, PACKET_FANOUT_FLAG_UNIQUEID) ||
	    getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &number, &length) < 0)
		return false;
	*group = (struct fanout_group){.ifindex = ifindex, .number = number & 0xffff, .members = 1};
	return true;
}

int
fanout_join(struct fanout *fanout, size_t index, uint32_t ifindex, int fd)
{
	struct fanout_group *group = &fanout->groups[index];
	bool joined;
	int number;

	pthread_mutex_lock(&fanout->mutex);
	if (group->members > 0 && group->ifindex == ifindex) {
		joined = fanout_set_option(fd, (unsigned)group->number, 0);
		group->members += joined;
	} else {
		joined = fanout_create_group(group, ifindex, fd);
	}
	number = joined ? group->number : -1;
	if (joined)
		log_debug(DEBUG_CAPTURE, "interface %u: socket %u of fanout group %d, by hash of the connection",
			  (unsigned)ifindex, group->members, number);
	pthread_mutex_unlock(&fanout->mutex);
	return number;
}

void
fanout_leave(struct fanout *fanout, size_t index, int group)
{
	pthread_mutex_lock(&fanout->mutex);
	if (fanout->groups[index].number == group && fanout->groups[index].members > 0)
		fanout->groups[index].members--;
	pthread_mutex_unlock(&fanout->mutex);
}
