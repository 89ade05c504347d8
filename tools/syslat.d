#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syslat: how long system calls take, as distributions by name
 *
 * Use:
 *   outsight tool syslat [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   read, ns
 *              value  ------------- Distribution ------------- count
 *               2048 |                                         0
 *               4096 |@@@@@@@@@@@@@@                           180
 *               8192 |@@@@@@@@@@@@@                            157
 *              16384 |@@@                                      40
 *              32768 |@@                                       24
 *              65536 |@@                                       31
 *             131072 |@                                        10
 *             262144 |@@@                                      36
 *             524288 |@@                                       20
 *            1048576 |                                         2
 *            2097152 |                                         0
 *
 * Caveats:
 *   The time includes waiting: of a call such as poll it is mostly that.
 *   Calls that never return (exit, a successful sigreturn) have no time. Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

syscall:::entry
/$$1 == "" || execname == $$1/
{
	self->began = timestamp;
}

syscall:::return
/self->began/
{
	@ns[probefunc] = quantize(timestamp - self->began);
	self->began = 0;
}

END
{
	printa("\n%s, ns%@d", @ns);
}
