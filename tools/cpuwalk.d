#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuwalk: on which CPUs a program runs, sampled 99 times a second
 *
 * Use:
 *   outsight tool cpuwalk [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   spin
 *              value  ------------- Distribution ------------- count
 *                < 0 |                                         0
 *                  0 |@@@@@@@@@@                               86
 *                  1 |@@@@@@@@@@                               85
 *                  2 |@@@@@@@@@@                               87
 *                  3 |@@@@@@@@@@                               91
 *                  4 |                                         0
 *
 * Caveats:
 *   CPUs from 256 on are in one row. Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

profile-99
/pid && ($$1 == "" || execname == $$1)/
{
	@cpus[execname] = lquantize(cpu, 0, 256, 1);
}

END
{
	printa("\n%s%@d", @cpus);
}
