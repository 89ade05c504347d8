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
 *                512 |                                         0
 *               1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           77
 *               2048 |@@@@@@@@@@                               25
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
