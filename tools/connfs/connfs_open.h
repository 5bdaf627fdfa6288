/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and directories that are open.  The caller holds connfs_lock, except for connfs_read(). */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_OPEN_H
#define NETOBS_TOOLS_CONNFS_CONNFS_OPEN_H

#define FUSE_USE_VERSION 314

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tools/connfs/connfs_tree.h"

/* An open directory or file: its bytes, or the capture that they are read from. */
struct connfs_handle {
	char *bytes;
	size_t length, room;
	int fd;	     /* a capture; otherwise -1 */
	bool failed; /* memory was short */
	bool cached; /* the kernel reads it through its page cache */
};

/* Held by the thread that serves a request, except while packets are received or replayed, which takes long: these
 * requests have threads of their own. */
extern pthread_mutex_t connfs_lock;

/* Opens a file: its bytes are those of this moment. */
void connfs_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file);

/* The bytes of an open directory or file from an offset on; those of a capture do not wait for connfs_lock. */
void connfs_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file);

/* Closes a directory or a file. */
void connfs_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file);

/* Frees an open directory or file. */
void connfs_close(struct connfs_handle *handle);

/* Records the size of a file, which a reply to the kernel contains. */
void connfs_note_size(const struct stat *attributes);

#endif
