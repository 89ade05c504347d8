#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runqlen: how many threads wait for each CPU, sampled 99 times a second
 *
 * Use:
 *   outsight tool runqlen [-g GUEST]
 *
 * Example:
 *   CPU 3
 *              value  ------------- Distribution ------------- count
 *                < 0 |                                         0
 *                  0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@         83
 *                  1 |@@@@@@@@                                 20
 *                  2 |                                         0
 *
 * Caveats:
 *   The thread that runs is not one that waits. Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

profile-99
{
	this->n = `runqueues.nr_running;
	@waiting[cpu] = lquantize(this->n > 0 ? this->n - 1 : 0, 0, 64, 1);
}

END
{
	printa("CPU %d%@d\n", @waiting);
}
