/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* The kernel's interface, of which headers before Linux 5.13 have nothing and those before 6.12 not all.  The numbers
 * of the calls are the same for all processors. */
#define CALL_CREATE_RULESET 444
#define CALL_ADD_RULE	    445

#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH      1
#define FS_READ_FILE	       (UINT64_C(1) << 2)
#define FS_READ_DIR	       (UINT64_C(1) << 3)

struct landlock_attributes {
	uint64_t handled_fs;
	uint64_t handled_net; /* ABI 4 */
	uint64_t scoped;      /* ABI 6 */
};

struct landlock_path_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

/* Rights on files by the version of the interface that introduced the last of them. */
static const struct {
	int abi;
	uint64_t rights;
} file_rights[] = {
    {1, (UINT64_C(1) << 13) - 1}, /* execute to make symbolic link */
    {2, UINT64_C(1) << 13},	  /* refer */
    {3, UINT64_C(1) << 14},	  /* truncate */
    {5, UINT64_C(1) << 15},	  /* ioctl on devices */
};

static int ruleset = -1; /* -1: the kernel has no Landlock, or it is in force */

static bool
landlock_log_failure(const char *what)
{
	log_error("cannot restrict access to files: %s: %s; --no-seccomp runs without it", what, strerror(errno));
	return false;
}

/* The attributes as far as this version of the interface knows them; `size` is their length. */
static struct landlock_attributes
landlock_attributes_for(int abi, size_t *size)
{
	struct landlock_attributes attributes = {0};

	for (size_t i = 0; i < sizeof file_rights / sizeof file_rights[0]; i++)
		if (abi >= file_rights[i].abi)
			attributes.handled_fs |= file_rights[i].rights;
	*size = sizeof attributes.handled_fs;
	if (abi >= 4) {
		attributes.handled_net = 3; /* bind and connect of TCP sockets */
		*size += sizeof attributes.handled_net;
	}
	if (abi >= 6) {
		attributes.scoped = 3; /* abstract Unix sockets of other processes, and signals to them */
		*size += sizeof attributes.scoped;
	}
	return attributes;
}

/* Allows to read a file, or files below a directory.  One that does not exist needs no rule. */
static bool
landlock_allow(const char *path)
{
	struct landlock_path_rule rule = {.allowed = FS_READ_FILE};
	struct stat status;
	bool allowed;

	rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return errno == ENOENT || errno == EACCES || landlock_log_failure(path);
	if (fstat(rule.parent, &status) == 0 && S_ISDIR(status.st_mode))
		rule.allowed |= FS_READ_DIR;
	allowed = syscall(CALL_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
	if (allowed)
		log_debug(DEBUG_CONFINE, "files below %s can be read", path);
	else
		landlock_log_failure(path);
	close(rule.parent);
	return allowed;
}

static bool
landlock_is_root(const char *directory)
{
	struct stat root, status;

	return stat("/", &root) == 0 && stat(directory, &status) == 0 && status.st_dev == root.st_dev &&
	       status.st_ino == root.st_ino;
}

/* Allows the directory of a file, since an editor may replace the file; of a file in the root directory, it alone. */
static bool
landlock_allow_directory_of(const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	if (strlen(path) >= sizeof directory)
		return true;
	memcpy(directory, path, strlen(path) + 1);
	slash = strrchr(directory, '/');
	if (slash == NULL)
		memcpy(directory, ".", 2);
	else
		slash[slash == directory] = '\0';
	return landlock_allow(landlock_is_root(directory) ? path : directory);
}

/* The configuration file is read again on a reload.  It may be a symbolic link. */
static bool
landlock_allow_config(const char *path)
{
	char *target = realpath(path, NULL);
	bool allowed = landlock_allow_directory_of(path) && (target == NULL || landlock_allow_directory_of(target));

	free(target);
	return allowed;
}

static bool
landlock_allow_all(const struct config *config)
{
	/* The names in a filter: services, protocols, hosts. */
	if (!landlock_allow("/etc") || (config->config_path != NULL && !landlock_allow_config(config->config_path)))
		return false;
	/* libpcap reads the properties of an interface there, and the C library the number of processors. */
	return landlock_allow(config->interface_names[0] != NULL ? "/sys" : "/sys/devices/system/cpu");
}

bool
landlock_prepare(const struct config *config)
{
	int abi = (int)syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
	struct landlock_attributes attributes;
	size_t size;

	if (sandbox_instrumentation.count > 0)
		return true; /* gcov writes files */
	if (abi < 1) {
		log_debug(DEBUG_CONFINE, "access to files is not restricted: no Landlock: %s",
			  strerror(errno));
		return true;
	}
	attributes = landlock_attributes_for(abi, &size);
	ruleset = (int)syscall(CALL_CREATE_RULESET, &attributes, size, 0);
	if (ruleset < 0)
		return landlock_log_failure("Landlock");
	return landlock_allow_all(config);
}

bool
landlock_enter(void)
{
	if (ruleset < 0)
		return true;
	if (syscall(SANDBOX_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0)
		return landlock_log_failure("Landlock");
	close(ruleset);
	ruleset = -1;
	log_debug(DEBUG_CONFINE, "Landlock is active");
	return true;
}
