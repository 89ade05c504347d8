#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functime: how long a kernel function takes, as a distribution
 *
 * Use:
 *   outsight tool functime [-g GUEST] FUNCTION
 *   FUNCTION   a kernel function; * and ? match several: 'vfs_*'
 *
 * Example:
 *   vfs_read, ns
 *              value  ------------- Distribution ------------- count
 *               1024 |                                         0
 *               2048 |@                                        7
 *               4096 |@@@@@@@@@@@@@@@@@@@@                     263
 *               8192 |@@@@@@                                   79
 *              16384 |@@@                                      41
 *              32768 |@@                                       24
 *              65536 |@@                                       29
 *             131072 |@@                                       27
 *             262144 |@@@                                      39
 *             524288 |                                         3
 *            1048576 |                                         2
 *            2097152 |                                         0
 *
 * Caveats:
 *   Time waiting is included. Of functions that call one another, or themselves, the inner ones count only by
 *   themselves. Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option anydefs

fbt::$1:entry
{
	self->began[probefunc] = timestamp;
}

fbt::$1:return
/self->began[probefunc]/
{
	@ns[probefunc] = quantize(timestamp - self->began[probefunc]);
	self->began[probefunc] = 0;
}

END
{
	printa("\n%s, ns%@d", @ns);
}
