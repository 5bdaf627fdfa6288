/* SPDX-License-Identifier: BSD-2-Clause */
/* The scratch directory of a test program, one at a time: new, empty, and its working directory. */
#ifndef NETOBS_TESTS_LIB_SCRATCH_DIR_H
#define NETOBS_TESTS_LIB_SCRATCH_DIR_H

/* Makes the directory /tmp/netobs-test-NAME.XXXXXX and changes to it.  Returns its path, valid until the next call;
 * NULL with errno on failure. */
const char *scratch_dir_make(const char *name);

/* Changes to / and removes the directory with all that it contains.  Returns 0, another number on failure. */
int scratch_dir_remove(void);

#endif
