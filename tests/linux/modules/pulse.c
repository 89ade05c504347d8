// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests: functions and a tracepoint whose numbers of calls are known.
 *
 *   insmod pulse.ko first=N             N beats while it initialises itself
 *   echo N >/sys/module/pulse/parameters/beats   N more
 *   cat /sys/module/pulse/parameters/total       all since it was loaded
 */
#define CREATE_TRACE_POINTS
#include "pulse_trace.h"

#include <linux/module.h>
#include <linux/moduleparam.h>

static unsigned int pulse_first;
module_param_named(first, pulse_first, uint, 0444);

static unsigned int pulse_total;
module_param_named(total, pulse_total, uint, 0444);

static unsigned int pulse_sum;

static noinline __noclone unsigned int pulse_beat(unsigned int nth)
{
	trace_pulse_beat(nth);
	pulse_total++;
	return nth * 2;
}

/* Of a function of the kernel's own, with other parameters. */
static noinline __noclone unsigned int do_rmdir(unsigned int sum)
{
	return sum + 1;
}

static void pulse_run(unsigned int n)
{
	unsigned int i; /* 5.10's C is of 1989 */

	for (i = 0; i < n; i++)
		pulse_sum += pulse_beat(i);
	pulse_sum = do_rmdir(pulse_sum);
}

static int pulse_set(const char *text, const struct kernel_param *unused)
{
	unsigned int n;
	int err = kstrtouint(text, 0, &n);

	if (!err)
		pulse_run(n);
	return err;
}

static const struct kernel_param_ops pulse_ops = { .set = pulse_set };
module_param_cb(beats, &pulse_ops, NULL, 0200);

static int __init pulse_init(void)
{
	pulse_run(pulse_first);
	return 0;
}

static void __exit pulse_exit(void)
{
}

module_init(pulse_init);
module_exit(pulse_exit);
MODULE_DESCRIPTION("Functions and a tracepoint with known numbers of calls, for tests of Outsight");
MODULE_LICENSE("GPL");
