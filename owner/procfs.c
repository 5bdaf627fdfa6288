/* SPDX-License-Identifier: BSD-2-Clause */
#include "owner/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HINTS	       65536u /* holders that scans have found; a power of two */
#define HINT_WAYS      4u
#define PIDS_MAX       131072u /* processes beyond this number are not examined */
#define RECENT_HOLDERS 8u      /* most recent results of procfs_find_holder() */
#define ANCESTORS_MAX  16u
#define NAMES_BYTES    32768u
#define NO_PID	       (-1)

struct procfs_hint {
	uint32_t inode; /* 0: none */
	int32_t pid, fd;
};

/* Phases of a scan. */
enum scan_phase {
	SCAN_NEW,	     /* processes started since the last scan */
	SCAN_RECENT_HOLDERS, /* processes that were found as holders recently */
	SCAN_REST,
	SCAN_DONE,
};

struct procfs_scan {
	enum scan_phase phase;
	uint32_t next; /* pids[next - 1] is next, counting down; in SCAN_RECENT_HOLDERS, recent_holders[recent_index] */
	uint32_t recent_index;
	int32_t highest_seen_pid;	   /* highest pid at the last scan */
	int32_t pid;			   /* process whose descriptors are being read */
	int fd_directory;		   /* descriptor of its /proc/PID/fd, -1 none */
	uint64_t denied;		   /* processes without permission so far */
	size_t names_length, names_offset; /* bytes in `names`, and how many of them are processed */
};

struct procfs {
	int root;
	uint32_t count;
	struct procfs_scan scan;
	struct procfs_counters counters;
	int32_t recent_holders[RECENT_HOLDERS]; /* most recent first */
	int32_t pids[PIDS_MAX];			/* ascending, as /proc lists them */
	struct procfs_hint hints[HINTS];
	_Alignas(struct dirent) char names[NAMES_BYTES];
};

size_t
procfs_memory(void)
{
	return sizeof(struct procfs);
}

struct procfs *
procfs_new(void)
{
	struct procfs *procfs = calloc(1, sizeof *procfs);

	if (procfs == NULL)
		return NULL;
	procfs->scan = (struct procfs_scan){.phase = SCAN_DONE, .fd_directory = -1};
	for (unsigned i = 0; i < RECENT_HOLDERS; i++)
		procfs->recent_holders[i] = NO_PID;
	procfs->root = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (procfs->root < 0) {
		int error = errno;

		free(procfs);
		errno = error;
		return NULL;
	}
	return procfs;
}

static void
procfs_close_process(struct procfs_scan *scan)
{
	if (scan->fd_directory >= 0)
		close(scan->fd_directory);
	scan->fd_directory = -1;
}

void
procfs_free(struct procfs *procfs)
{
	if (procfs == NULL)
		return;
	procfs_close_process(&procfs->scan);
	close(procfs->root);
	free(procfs);
}

struct procfs_counters
procfs_counters(const struct procfs *procfs)
{
	return procfs->counters;
}

/* Parses a decimal number of at most 31 bits at the start of `text`, -1 if there is none; `*end` is what follows it. */
static int32_t
procfs_parse_number(const char *text, const char **end)
{
	int64_t number = -1;

	for (; *text >= '0' && *text <= '9'; text++) {
		number = (number < 0 ? 0 : number * 10) + (*text - '0');
		if (number > INT32_MAX)
			return -1;
	}
	*end = text;
	return (int32_t)number;
}

/* The inode that "socket:[INODE]" names, 0 for any other link. */
static uint32_t
procfs_read_socket_inode(int directory, const char *name)
{
	static const char prefix[] = "socket:[";
	char link[64];
	ssize_t length = readlinkat(directory, name, link, sizeof link - 1);
	uint64_t inode = 0;

	if (length < (ssize_t)sizeof prefix || memcmp(link, prefix, sizeof prefix - 1) != 0)
		return 0;
	link[length] = '\0';
	for (const char *at = link + sizeof prefix - 1; *at >= '0' && *at <= '9'; at++) {
		inode = inode * 10 + (uint64_t)(*at - '0');
		if (inode > UINT32_MAX)
			return 0;
	}
	return (uint32_t)inode;
}

/* ------------------------------------------------------------------------------------------------------------ hints */

static struct procfs_hint *
procfs_hint_set(struct procfs *procfs, uint32_t inode)
{
	/* Inodes are consecutive. */
	return &procfs->hints[inode * HINT_WAYS & (HINTS - 1)];
}

static void
procfs_store_hint(struct procfs *procfs, uint32_t inode, int32_t pid, int32_t fd)
{
	struct procfs_hint *hints = procfs_hint_set(procfs, inode);
	unsigned way = 0;

	while (way < HINT_WAYS && hints[way].inode != inode && hints[way].inode != 0)
		way++;
	if (way == HINT_WAYS) { /* overwrite the oldest */
		memmove(hints, hints + 1, (HINT_WAYS - 1) * sizeof *hints);
		way = HINT_WAYS - 1;
	}
	hints[way] = (struct procfs_hint){inode, pid, fd};
}

static struct procfs_hint *
procfs_find_hint(struct procfs *procfs, uint32_t inode)
{
	struct procfs_hint *hints = procfs_hint_set(procfs, inode);

	for (unsigned way = 0; way < HINT_WAYS; way++)
		if (hints[way].inode == inode)
			return &hints[way];
	return NULL;
}

/* --------------------------------------------------------------------------------------------------- one process */

/* Opens /proc/PID.  The directory stays bound to that process: after its exit reads fail, even if the pid is reused.
 * What is read through one descriptor is therefore consistent. */
static int
procfs_open_process(const struct procfs *procfs, int32_t pid)
{
	char name[16];

	snprintf(name, sizeof name, "%d", (int)pid);
	return openat(procfs->root, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool
procfs_fd_is_inode(int process, int32_t fd, uint32_t inode)
{
	char name[24];

	snprintf(name, sizeof name, "fd/%d", (int)fd);
	return procfs_read_socket_inode(process, name) == inode;
}

/* Reads a small file whole; the text ends with a NUL.  False if it cannot be read. */
static bool
procfs_read_text(int process, const char *name, char *text, size_t size)
{
	int file = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file < 0)
		return false;
	length = read(file, text, size - 1);
	close(file);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static void
procfs_read_comm(int process, char comm[16])
{
	char text[64]; /* 15 bytes at most, and a newline */
	size_t length;

	memset(comm, 0, 16);
	if (!procfs_read_text(process, "comm", text, sizeof text))
		return;
	length = strlen(text);
	length -= length > 0 && text[length - 1] == '\n';
	memcpy(comm, text, length < 15 ? length : 15);
}

/* The parent's pid, -1 if it cannot be read. */
static int32_t
procfs_read_parent(int process)
{
	char text[128]; /* "PID (COMM) STATE PPID ...": COMM is short but may contain any character */
	const char *at;

	if (!procfs_read_text(process, "stat", text, sizeof text))
		return NO_PID;
	at = strrchr(text, ')');
	return at != NULL && strlen(at) > 4 ? procfs_parse_number(at + 4, &at) : NO_PID;
}

/* A forked process has its parent's descriptors under the same numbers: moves to the parent as long as that holds the
 * socket too. */
static int
procfs_find_eldest_holder(const struct procfs *procfs, int process, int32_t *pid, int32_t fd, uint32_t inode)
{
	for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
		int32_t parent = procfs_read_parent(process);
		int above = parent > 0 ? procfs_open_process(procfs, parent) : -1;

		if (above < 0)
			break;
		if (!procfs_fd_is_inode(above, fd, inode)) {
			close(above);
			break;
		}
		close(process);
		process = above;
		*pid = parent;
	}
	return process;
}

static void
procfs_add_recent_holder(struct procfs *procfs, int32_t pid)
{
	unsigned at = 0;

	while (at < RECENT_HOLDERS - 1 && procfs->recent_holders[at] != pid)
		at++;
	memmove(procfs->recent_holders + 1, procfs->recent_holders, at * sizeof procfs->recent_holders[0]);
	procfs->recent_holders[0] = pid;
}

bool
procfs_check_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process)
{
	int directory = procfs_open_process(procfs, process->pid);
	bool held;

	if (directory < 0)
		return false;
	held = procfs_fd_is_inode(directory, process->fd, inode);
	if (held)
		procfs_read_comm(directory, process->comm);
	close(directory);
	return held;
}

bool
procfs_find_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process)
{
	struct procfs_hint *hint = procfs_find_hint(procfs, inode);
	int directory;

	if (hint == NULL)
		return false;
	*process = (struct procfs_process){.pid = hint->pid, .fd = hint->fd};
	directory = procfs_open_process(procfs, hint->pid);
	if (directory < 0 || !procfs_fd_is_inode(directory, hint->fd, inode)) {
		if (directory >= 0)
			close(directory);
		*hint = (struct procfs_hint){0, NO_PID, -1};
		return false;
	}
	directory = procfs_find_eldest_holder(procfs, directory, &process->pid, process->fd, inode);
	procfs_read_comm(directory, process->comm);
	close(directory);
	procfs_add_recent_holder(procfs, process->pid);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ scans */

/* The next directory entry in `names`, NULL if there is none. */
static const char *
procfs_next_name(struct procfs *procfs)
{
	struct procfs_scan *scan = &procfs->scan;
	const struct dirent *entry;

	if (scan->names_offset >= scan->names_length)
		return NULL;
	entry = (const struct dirent *)(const void *)(procfs->names + scan->names_offset);
	scan->names_offset += entry->d_reclen;
	return entry->d_name;
}

static bool
procfs_read_names(struct procfs *procfs, int directory)
{
	ssize_t got = getdents64(directory, procfs->names, sizeof procfs->names);

	procfs->scan.names_offset = 0;
	procfs->scan.names_length = got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void
procfs_list_pids(struct procfs *procfs)
{
	const char *name, *end;

	procfs->count = 0;
	if (lseek(procfs->root, 0, SEEK_SET) < 0)
		return;
	while (procfs_read_names(procfs, procfs->root))
		while ((name = procfs_next_name(procfs)) != NULL) {
			int32_t pid = procfs_parse_number(name, &end);

			if (pid > 0 && *end == '\0' && procfs->count < PIDS_MAX)
				procfs->pids[procfs->count++] = pid;
		}
}

void
procfs_scan_begin(struct procfs *procfs)
{
	int32_t seen = procfs->count > 0 ? procfs->pids[procfs->count - 1] : 0;

	procfs_close_process(&procfs->scan);
	procfs_list_pids(procfs);
	procfs->scan = (struct procfs_scan){
	    .phase = SCAN_NEW, .next = procfs->count, .highest_seen_pid = seen, .fd_directory = -1};
	procfs->counters.scans++;
}

static bool
procfs_is_recent_holder(const struct procfs *procfs, int32_t pid)
{
	for (unsigned i = 0; i < RECENT_HOLDERS; i++)
		if (procfs->recent_holders[i] == pid)
			return true;
	return false;
}

/* The process to examine next; NO_PID at the end. */
static int32_t
procfs_next_pid(struct procfs *procfs)
{
	struct procfs_scan *scan = &procfs->scan;

	if (scan->phase == SCAN_NEW) {
		if (scan->next > 0 && procfs->pids[scan->next - 1] > scan->highest_seen_pid)
			return procfs->pids[--scan->next];
		scan->phase = SCAN_RECENT_HOLDERS;
	}
	if (scan->phase == SCAN_RECENT_HOLDERS) {
		while (scan->recent_index < RECENT_HOLDERS) {
			int32_t pid = procfs->recent_holders[scan->recent_index++];

			if (pid != NO_PID && pid <= scan->highest_seen_pid)
				return pid;
		}
		scan->phase = SCAN_REST;
	}
	while (scan->next > 0) {
		int32_t pid = procfs->pids[--scan->next];

		if (!procfs_is_recent_holder(procfs, pid))
			return pid;
	}
	return NO_PID;
}

static void
procfs_open_fds(struct procfs *procfs, int32_t pid)
{
	struct procfs_scan *scan = &procfs->scan;
	char name[24];

	snprintf(name, sizeof name, "%d/fd", (int)pid);
	scan->pid = pid;
	scan->fd_directory = openat(procfs->root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scan->denied += scan->fd_directory < 0 && (errno == EACCES || errno == EPERM);
	scan->names_offset = scan->names_length = 0;
}

/* Examines one more descriptor of the present process; false if there are no more. */
static bool
procfs_scan_fd(struct procfs *procfs)
{
	struct procfs_scan *scan = &procfs->scan;
	const char *name = procfs_next_name(procfs), *end;
	uint32_t inode;
	int32_t fd;

	if (name == NULL) {
		if (!procfs_read_names(procfs, scan->fd_directory))
			return false;
		name = procfs_next_name(procfs);
	}
	fd = procfs_parse_number(name, &end);
	if (fd < 0 || *end != '\0') /* "." and ".." */
		return true;
	procfs->counters.links++;
	errno = 0;
	inode = procfs_read_socket_inode(scan->fd_directory, name);
	if (inode != 0) {
		procfs_store_hint(procfs, inode, scan->pid, fd);
	} else if (errno == EACCES || errno == EPERM) {
		scan->denied++;
		return false;
	}
	return true;
}

bool
procfs_scan_step(struct procfs *procfs, unsigned links)
{
	struct procfs_scan *scan = &procfs->scan;

	for (unsigned i = 0; i < links && scan->phase != SCAN_DONE; i++) {
		int32_t pid;

		if (scan->fd_directory >= 0) {
			if (!procfs_scan_fd(procfs))
				procfs_close_process(scan);
			continue;
		}
		pid = procfs_next_pid(procfs);
		if (pid != NO_PID) {
			procfs_open_fds(procfs, pid);
			continue;
		}
		scan->phase = SCAN_DONE;
		procfs->counters.denied = scan->denied;
	}
	return scan->phase == SCAN_DONE;
}
