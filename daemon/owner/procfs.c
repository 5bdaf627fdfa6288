/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/owner/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HINTS 65536u /* a power of two */
#define HINT_WAYS 4u
#define PIDS_MAX 131072u /* processes beyond this number are not examined */
#define FAVOURITES 8u
#define ANCESTORS_MAX 16u
#define NAMES_BYTES 32768u
#define NO_PID (-1)

struct hint {
	uint32_t inode; /* 0: none */
	int32_t pid, fd;
};

/* Phases of a walk. */
enum phase {
	PHASE_NEW,	  /* processes started since the last walk */
	PHASE_FAVOURITES, /* processes that recently held a wanted socket */
	PHASE_REST,
	PHASE_OVER,
};

struct walk {
	enum phase phase;
	uint32_t next;	 /* pids[next - 1] is next, counting down; in PHASE_FAVOURITES, favourites[favourite] */
	uint32_t favourite;
	int32_t seen;	 /* highest pid at the last walk */
	int32_t pid;	 /* process whose descriptors are being read */
	int fds;	 /* descriptor of its /proc/PID/fd, -1 none */
	uint64_t denied; /* processes without permission so far */
	size_t held, done; /* bytes in `names`, and how many of them are processed */
};

struct procfs {
	int root;
	uint32_t count;
	struct walk walk;
	struct procfs_counters counters;
	int32_t favourites[FAVOURITES]; /* most recent first */
	int32_t pids[PIDS_MAX];		/* ascending, as /proc lists them */
	struct hint hints[HINTS];
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
	procfs->walk = (struct walk){.phase = PHASE_OVER, .fds = -1};
	for (unsigned i = 0; i < FAVOURITES; i++)
		procfs->favourites[i] = NO_PID;
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
close_process(struct walk *walk)
{
	if (walk->fds >= 0)
		close(walk->fds);
	walk->fds = -1;
}

void
procfs_free(struct procfs *procfs)
{
	if (procfs == NULL)
		return;
	close_process(&procfs->walk);
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
number_of(const char *text, const char **end)
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
socket_inode(int directory, const char *name)
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

static struct hint *
hints_of(struct procfs *procfs, uint32_t inode)
{
	/* Inodes are consecutive. */
	return &procfs->hints[inode * HINT_WAYS & (HINTS - 1)];
}

static void
remember(struct procfs *procfs, uint32_t inode, int32_t pid, int32_t fd)
{
	struct hint *hints = hints_of(procfs, inode);
	unsigned way = 0;

	while (way < HINT_WAYS && hints[way].inode != inode && hints[way].inode != 0)
		way++;
	if (way == HINT_WAYS) { /* overwrite the oldest */
		memmove(hints, hints + 1, (HINT_WAYS - 1) * sizeof *hints);
		way = HINT_WAYS - 1;
	}
	hints[way] = (struct hint){inode, pid, fd};
}

static struct hint *
recall(struct procfs *procfs, uint32_t inode)
{
	struct hint *hints = hints_of(procfs, inode);

	for (unsigned way = 0; way < HINT_WAYS; way++)
		if (hints[way].inode == inode)
			return &hints[way];
	return NULL;
}

/* --------------------------------------------------------------------------------------------------- one process */

/* Opens /proc/PID.  The directory stays bound to that process: after its exit reads fail, even if the pid is reused.
 * What is read through one descriptor is therefore consistent. */
static int
open_process(const struct procfs *procfs, int32_t pid)
{
	char name[16];

	snprintf(name, sizeof name, "%d", (int)pid);
	return openat(procfs->root, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool
holds(int process, int32_t fd, uint32_t inode)
{
	char name[24];

	snprintf(name, sizeof name, "fd/%d", (int)fd);
	return socket_inode(process, name) == inode;
}

/* Reads a small file whole; the text ends with a NUL.  False if it cannot be read. */
static bool
read_text(int process, const char *name, char *text, size_t size)
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
read_comm(int process, char comm[16])
{
	char text[64]; /* 15 bytes at most, and a newline */
	size_t length;

	memset(comm, 0, 16);
	if (!read_text(process, "comm", text, sizeof text))
		return;
	length = strlen(text);
	length -= length > 0 && text[length - 1] == '\n';
	memcpy(comm, text, length < 15 ? length : 15);
}

/* The parent's pid, -1 if it cannot be read. */
static int32_t
parent_of(int process)
{
	char text[128]; /* "PID (COMM) STATE PPID ...": COMM is short but may contain any character */
	const char *at;

	if (!read_text(process, "stat", text, sizeof text))
		return NO_PID;
	at = strrchr(text, ')');
	return at != NULL && strlen(at) > 4 ? number_of(at + 4, &at) : NO_PID;
}

/* A forked process has its parent's descriptors under the same numbers: moves to the parent as long as that holds the
 * socket too. */
static int
climb(const struct procfs *procfs, int process, int32_t *pid, int32_t fd, uint32_t inode)
{
	for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
		int32_t parent = parent_of(process);
		int above = parent > 0 ? open_process(procfs, parent) : -1;

		if (above < 0)
			break;
		if (!holds(above, fd, inode)) {
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
favour(struct procfs *procfs, int32_t pid)
{
	unsigned at = 0;

	while (at < FAVOURITES - 1 && procfs->favourites[at] != pid)
		at++;
	memmove(procfs->favourites + 1, procfs->favourites, at * sizeof procfs->favourites[0]);
	procfs->favourites[0] = pid;
}

bool
procfs_still_holds(struct procfs *procfs, uint32_t inode, struct procfs_process *process)
{
	int directory = open_process(procfs, process->pid);
	bool held;

	if (directory < 0)
		return false;
	held = holds(directory, process->fd, inode);
	if (held)
		read_comm(directory, process->comm);
	close(directory);
	return held;
}

bool
procfs_holder(struct procfs *procfs, uint32_t inode, struct procfs_process *process)
{
	struct hint *hint = recall(procfs, inode);
	int directory;

	if (hint == NULL)
		return false;
	*process = (struct procfs_process){.pid = hint->pid, .fd = hint->fd};
	directory = open_process(procfs, hint->pid);
	if (directory < 0 || !holds(directory, hint->fd, inode)) {
		if (directory >= 0)
			close(directory);
		*hint = (struct hint){0, NO_PID, -1};
		return false;
	}
	directory = climb(procfs, directory, &process->pid, process->fd, inode);
	read_comm(directory, process->comm);
	close(directory);
	favour(procfs, process->pid);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ walks */

/* The next of the names that `names` holds, NULL if there is none. */
static const char *
next_name(struct procfs *procfs)
{
	struct walk *walk = &procfs->walk;
	const struct dirent *entry;

	if (walk->done >= walk->held)
		return NULL;
	entry = (const struct dirent *)(const void *)(procfs->names + walk->done);
	walk->done += entry->d_reclen;
	return entry->d_name;
}

static bool
more_names(struct procfs *procfs, int directory)
{
	ssize_t got = getdents64(directory, procfs->names, sizeof procfs->names);

	procfs->walk.done = 0;
	procfs->walk.held = got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void
list_pids(struct procfs *procfs)
{
	const char *name, *end;

	procfs->count = 0;
	if (lseek(procfs->root, 0, SEEK_SET) < 0)
		return;
	while (more_names(procfs, procfs->root))
		while ((name = next_name(procfs)) != NULL) {
			int32_t pid = number_of(name, &end);

			if (pid > 0 && *end == '\0' && procfs->count < PIDS_MAX)
				procfs->pids[procfs->count++] = pid;
		}
}

void
procfs_walk_begin(struct procfs *procfs)
{
	int32_t seen = procfs->count > 0 ? procfs->pids[procfs->count - 1] : 0;

	close_process(&procfs->walk);
	list_pids(procfs);
	procfs->walk = (struct walk){.phase = PHASE_NEW, .next = procfs->count, .seen = seen, .fds = -1};
	procfs->counters.walks++;
}

static bool
is_favourite(const struct procfs *procfs, int32_t pid)
{
	for (unsigned i = 0; i < FAVOURITES; i++)
		if (procfs->favourites[i] == pid)
			return true;
	return false;
}

/* The process to examine next; NO_PID at the end. */
static int32_t
next_pid(struct procfs *procfs)
{
	struct walk *walk = &procfs->walk;

	if (walk->phase == PHASE_NEW) {
		if (walk->next > 0 && procfs->pids[walk->next - 1] > walk->seen)
			return procfs->pids[--walk->next];
		walk->phase = PHASE_FAVOURITES;
	}
	if (walk->phase == PHASE_FAVOURITES) {
		while (walk->favourite < FAVOURITES) {
			int32_t pid = procfs->favourites[walk->favourite++];

			if (pid != NO_PID && pid <= walk->seen)
				return pid;
		}
		walk->phase = PHASE_REST;
	}
	while (walk->next > 0) {
		int32_t pid = procfs->pids[--walk->next];

		if (!is_favourite(procfs, pid))
			return pid;
	}
	return NO_PID;
}

static void
enter_process(struct procfs *procfs, int32_t pid)
{
	struct walk *walk = &procfs->walk;
	char name[24];

	snprintf(name, sizeof name, "%d/fd", (int)pid);
	walk->pid = pid;
	walk->fds = openat(procfs->root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	walk->denied += walk->fds < 0 && (errno == EACCES || errno == EPERM);
	walk->done = walk->held = 0;
}

/* Examines one more descriptor of the present process; false if there are no more. */
static bool
look_at_one(struct procfs *procfs)
{
	struct walk *walk = &procfs->walk;
	const char *name = next_name(procfs), *end;
	uint32_t inode;
	int32_t fd;

	if (name == NULL) {
		if (!more_names(procfs, walk->fds))
			return false;
		name = next_name(procfs);
	}
	fd = number_of(name, &end);
	if (fd < 0 || *end != '\0') /* "." and ".." */
		return true;
	procfs->counters.links++;
	errno = 0;
	inode = socket_inode(walk->fds, name);
	if (inode != 0) {
		remember(procfs, inode, walk->pid, fd);
	} else if (errno == EACCES || errno == EPERM) {
		walk->denied++;
		return false;
	}
	return true;
}

bool
procfs_walk_step(struct procfs *procfs, unsigned links)
{
	struct walk *walk = &procfs->walk;

	for (unsigned i = 0; i < links && walk->phase != PHASE_OVER; i++) {
		int32_t pid;

		if (walk->fds >= 0) {
			if (!look_at_one(procfs))
				close_process(walk);
			continue;
		}
		pid = next_pid(procfs);
		if (pid != NO_PID) {
			enter_process(procfs, pid);
			continue;
		}
		walk->phase = PHASE_OVER;
		procfs->counters.denied = walk->denied;
	}
	return walk->phase == PHASE_OVER;
}
