#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bitesize: sizes of block I/O as programs submit it, as distributions by program
 *
 * Use:
 *   outsight tool bitesize [-g GUEST]
 *
 * Example:
 *   dd, bytes
 *              value  ------------- Distribution ------------- count
 *                 -1 |                                         0
 *                  0 |@@@@@                                    1
 *                  1 |                                         0
 *                  2 |                                         0
 *                  4 |                                         0
 *                  8 |                                         0
 *                 16 |                                         0
 *                 32 |                                         0
 *                 64 |                                         0
 *                128 |                                         0
 *                256 |                                         0
 *                512 |                                         0
 *               1024 |@@@@@@@@@@@@@@@                          3
 *               2048 |                                         0
 *               4096 |                                         0
 *               8192 |                                         0
 *              16384 |@@@@@@@@@@@@@@@@@@@@                     4
 *              32768 |                                         0
 *
 * Caveats:
 *   A request that the kernel splits is one here, from the program's submission to its last part.
 *   Writes are submitted by kernel threads (kworker, jbd2) when they leave the page cache.
 *   Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::submit_bio_noacct_nocheck:entry, fbt::submit_bio_noacct:entry
/(probefunc == "submit_bio_noacct_nocheck" || !__has_symbol(`submit_bio_noacct_nocheck))/
{
	@bytes[execname] = quantize(xlate <bufinfo_t *> ((struct bio *)arg0)->b_bcount);
}

END
{
	printa("\n%s, bytes%@d", @bytes);
}
