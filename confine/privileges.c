/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/privileges.h"

#include <cap-ng.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"

/* Whether the process is root or has a capability. */
static bool
privileges_are_held(void)
{
	bool held = geteuid() == 0;

	if (capng_get_caps_process() != 0)
		return true;
	for (unsigned i = 0; i <= CAP_LAST_CAP && !held; i++)
		held = capng_have_capability(CAPNG_PERMITTED, i) != 0;
	return held;
}

/* --------------------------------------------------------------------------------------------------------- planning */

/* The first of these users that exists replaces root by default. */
static const struct passwd *
privileges_default_user(void)
{
	static const char *const names[] = {"netobs", "nobody"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct passwd *entry = getpwnam(names[i]);

		if (entry != NULL && entry->pw_uid != 0)
			return entry;
	}
	log_error("no user to switch to: neither netobs nor nobody exists; give one with -u USER");
	return NULL;
}

static const struct passwd *
privileges_find_user(const char *name)
{
	const struct passwd *entry;

	if (name == NULL)
		return privileges_default_user();
	entry = getpwnam(name);
	if (entry == NULL)
		log_error("there is no user %s", name);
	return entry;
}

bool
privileges_plan(const struct config *config, struct privileges *plan)
{
	bool root = getuid() == 0 || geteuid() == 0;
	const struct passwd *entry;

	*plan = (struct privileges){
	    .keep_capture = !root && config->interface_names[0] != NULL,
	    .keep_owners = config->interface_names[0] != NULL && config->lookup_owners && config->lookup_all_users,
	};
	if (!root && config->run_as_user == NULL)
		return true;
	entry = privileges_find_user(config->run_as_user);
	if (entry == NULL)
		return false;
	if (!root && entry->pw_uid != geteuid()) {
		log_error("cannot switch to user %s: netobsd was not started as root%s", config->run_as_user,
			  unit_clause("User= of the unit is to name the user instead"));
		return false;
	}
	plan->change = root;
	plan->uid = entry->pw_uid;
	plan->gid = entry->pw_gid;
	return true;
}

/* --------------------------------------------------------------------------------------------------------- dropping */

static bool
privileges_log_failure(const char *what)
{
	log_error("%s: %s; refusing to parse packets", what, strerror(errno));
	return false;
}

/* The capabilities to keep, as a set of 1 << CAP_...; limited to the permitted ones. */
static uint64_t
privileges_kept_capabilities(const struct privileges *plan)
{
	static const unsigned owners[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH};
	uint64_t kept = 0;

	if (plan->keep_capture && capng_have_capability(CAPNG_PERMITTED, CAP_NET_RAW) != 0)
		kept |= UINT64_C(1) << CAP_NET_RAW;
	for (size_t i = 0; plan->keep_owners && i < sizeof owners / sizeof owners[0]; i++) {
		if (capng_have_capability(CAPNG_PERMITTED, owners[i]) != 0)
			kept |= UINT64_C(1) << owners[i];
		else
			log_warning("--all-owners: processes of other users cannot be looked up without %s%s",
				    capng_capability_to_name(owners[i]),
				    unit_clause("AmbientCapabilities= of the unit may lack it"));
	}
	return kept;
}

bool
privileges_keep_capture(const struct privileges *plan)
{
	return plan->keep_capture && capng_get_caps_process() == 0 &&
	       capng_have_capability(CAPNG_PERMITTED, CAP_NET_RAW) != 0;
}

/* Sets libcap-ng's target state to exactly these capabilities. */
static bool
privileges_select_capabilities(uint64_t kept)
{
	capng_clear(CAPNG_SELECT_BOTH);
	for (unsigned i = 0; i <= CAP_LAST_CAP; i++)
		if ((kept >> i & 1) != 0 &&
		    capng_update(CAPNG_ADD, (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED), i) != 0)
			return privileges_log_failure("cannot choose capabilities");
	return true;
}

static bool
privileges_change_user(const struct privileges *plan, bool bounding)
{
	int flags = CAPNG_DROP_SUPP_GRP | (bounding ? CAPNG_CLEAR_BOUNDING : 0);

	if (capng_change_id((int)plan->uid, (int)plan->gid, (capng_flags_t)flags) == 0)
		return true;
	log_error("cannot switch to user %ld and group %ld: %s; refusing to parse packets", (long)plan->uid,
		  (long)plan->gid, strerror(errno));
	return false;
}

/* The service manager's unit may forbid capset(2) after reducing capabilities itself.  A failure is then harmless;
 * privileges_verify_drop() verifies the result. */
static bool
privileges_drop_capabilities(bool bounding)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) /* before Linux 4.3 */
		return privileges_log_failure("cannot clear the ambient capabilities");
	return capng_apply(bounding ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) == 0 || errno == EPERM ||
	       privileges_log_failure("cannot drop capabilities");
}

/* A core file would hold captured bytes and whatever the privileged start has read.  The limit alone is not enough,
 * because it does not apply if the kernel pipes core dumps to a program. */
static bool
privileges_disable_core_dumps(void)
{
	const struct rlimit none = {0, 0};

	/* The service manager's unit may forbid setrlimit(2) after setting the limit itself. */
	if ((setrlimit(RLIMIT_CORE, &none) != 0 && errno != EPERM) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return privileges_log_failure("cannot disable core dumps");
	return true;
}

/* Verifies the present state in the kernel, independent of earlier return values. */
static bool
privileges_verify_drop(uint64_t kept)
{
	uid_t real, effective, saved;

	if (getresuid(&real, &effective, &saved) != 0 || capng_get_caps_process() != 0)
		return privileges_log_failure("cannot see what privileges are left");
	if (real == 0 || effective == 0 || saved == 0) {
		log_error("still root after dropping privileges; refusing to parse packets");
		return false;
	}
	for (unsigned i = 0; i <= CAP_LAST_CAP; i++) {
		if ((kept >> i & 1) == 0 && (capng_have_capability(CAPNG_EFFECTIVE, i) != 0 ||
					     capng_have_capability(CAPNG_PERMITTED, i) != 0)) {
			log_error("capability %s could not be dropped; refusing to parse packets",
				  capng_capability_to_name(i));
			return false;
		}
	}
	return true;
}

bool
privileges_drop_in_thread(bool capture, bool owners)
{
	const uint64_t kept = (capture ? UINT64_C(1) << CAP_NET_RAW : 0) |
			      (owners ? UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH : 0);
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint32_t dropped = 0;

	if (syscall(SYS_capget, &header, data) != 0)
		return privileges_log_failure("cannot see what capabilities there are");
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		dropped |= data[i].permitted & ~(uint32_t)(kept >> 32 * i);
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	return dropped == 0 || syscall(SYS_capset, &header, data) == 0 ||
	       privileges_log_failure("cannot drop the capabilities of a thread");
}

static void
privileges_debug_kept(uint64_t kept)
{
	char names[128] = "none";
	size_t used = 0;

	if (!log_debug_is_on(DEBUG_CONFINE))
		return;
	for (unsigned i = 0; i <= CAP_LAST_CAP && used < sizeof names; i++)
		if ((kept >> i & 1) != 0)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
						 capng_capability_to_name(i));
	log_debug(DEBUG_CONFINE, "runs as user %ld and group %ld; capabilities left: %s", (long)getuid(),
		  (long)getgid(), names);
}

bool
privileges_drop(const struct privileges *plan)
{
	uint64_t kept;
	bool bounding, held = privileges_are_held();

	if (capng_get_caps_process() != 0)
		return privileges_log_failure("cannot see what capabilities there are");
	/* Without CAP_SETPCAP, as in some containers, the bounding set cannot be changed; no_new_privs makes it
	 * irrelevant. */
	bounding = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) != 0;
	kept = privileges_kept_capabilities(plan);
	if (!privileges_select_capabilities(kept) ||
	    !(plan->change ? privileges_change_user(plan, bounding) : privileges_drop_capabilities(bounding)))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return privileges_log_failure("cannot renounce new privileges");
	if (!privileges_verify_drop(kept) || (held && !privileges_disable_core_dumps()))
		return false;
	privileges_debug_kept(kept);
	return true;
}

/* ------------------------------------------------------------------------------------------------------ descriptors */

/* A capture must never get the descriptor of a standard stream: printed or logged text would be sent through it. */
static void
descriptors_occupy_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void
descriptors_begin_program(char *name)
{
	program_invocation_short_name = name;
	descriptors_occupy_standard();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	trusted_path_require(privileges_are_held(), geteuid());
}

/* ---------------------------------------------------------------------------------------------------------- closing */

/* Keeps the lowest descriptor from `from` on. */
static void
descriptors_take_path(const char *path, unsigned from, unsigned *lowest)
{
	int fd = descriptor_of_path(path);

	if (fd >= 0 && (unsigned)fd >= from && (unsigned)fd < *lowest)
		*lowest = (unsigned)fd;
}

/* The lowest descriptor from `from` on that the configuration names, UINT_MAX for none. */
static unsigned
descriptors_next_named(const struct config *config, unsigned from)
{
	unsigned lowest = UINT_MAX;

	descriptors_take_path(config->config_path, from, &lowest);
	descriptors_take_path(config->records_path, from, &lowest);
	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		descriptors_take_path(config->capture_paths[i], from, &lowest);
	for (size_t i = 0; config->writes[i] != NULL; i++) /* NAME=FILE, as the options have checked */
		descriptors_take_path(strchr(config->writes[i], '=') + 1, from, &lowest);
	return lowest;
}

/* For kernels before 5.9.  Descriptors are closed after the directory is read, since closing may change it. */
static void
descriptors_close_listed(unsigned first, unsigned last)
{
	DIR *directory;
	const struct dirent *entry;
	unsigned long highest = 0;

	directory = opendir("/proc/self/fd");
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		highest = fd > highest ? fd : highest;
	}
	if (directory == NULL)
		highest = (unsigned long)sysconf(_SC_OPEN_MAX);
	else
		closedir(directory);
	for (unsigned long fd = first; fd <= last && fd <= highest && fd <= INT_MAX; fd++)
		close((int)fd);
}

static void
descriptors_close_range(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0u) == 0)
		return;
#endif
	descriptors_close_listed(first, last);
}

void
descriptors_close_inherited(const struct config *config)
{
	unsigned first = STDERR_FILENO + 1, named;

	while ((named = descriptors_next_named(config, first)) != UINT_MAX) {
		descriptors_close_range(first, named - 1);
		log_debug(DEBUG_CONFINE, "descriptor %u stays open, because the configuration names it", named);
		first = named + 1;
	}
	descriptors_close_range(first, UINT_MAX);
}
