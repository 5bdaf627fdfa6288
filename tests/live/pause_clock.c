/* SPDX-License-Identifier: BSD-2-Clause */
/* A library to preload: the process pauses for 1.5 s after it has read the host's clock, as if it or the machine was
 * stopped there; the next pause is half a second and one more reading later, and announced on standard error. */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS 500000000
#define READINGS    5u

/* Replaces the function of libc. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
	static const struct timespec pause = {.tv_sec = 1, .tv_nsec = 500000000};
	static _Thread_local unsigned readings, pauses;
	static _Thread_local int64_t end;
	struct timespec monotonic;
	int status = (int)syscall(SYS_clock_gettime, clock, now);
	int64_t ns;

	if (clock != CLOCK_REALTIME)
		return status;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
	ns = (int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec;
	if (end == 0)
		end = ns;
	if (ns - end < INTERVAL_NS || ++readings <= pauses % READINGS)
		return status;
	(void)!write(STDERR_FILENO, "pause\n", 6);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
	end = (int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec;
	readings = 0;
	pauses++;
	return status;
}
