#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * biosize: sizes of the requests that devices get, as distributions by device
 *
 * Use:
 *   outsight tool biosize [-g GUEST]
 *
 * Example:
 *   loop0 R, bytes
 *              value  ------------- Distribution ------------- count
 *                 -1 |                                         0
 *                  0 |@@@@@@@@@@@@@                            1
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
 *               1024 |                                         0
 *               2048 |                                         0
 *               4096 |                                         0
 *               8192 |                                         0
 *              16384 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2
 *              32768 |                                         0
 *
 * Caveats:
 *   After merging and splitting; bitesize has the sizes as programs submit them. Flushes without data have size 0.
 *   Devices without the kernel's multi-queue layer (brd, zram, md, dm) are not seen; those below them are.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::blk_mq_start_request:entry
{
	@bytes[xlate <devinfo_t *> ((struct request *)arg0)->dev_name,
	    xlate <bufinfo_t *> ((struct request *)arg0)->b_flags & B_READ ? "R" : "W"] =
	    quantize(((struct request *)arg0)->__data_len);
}

END
{
	printa("\n%s %s, bytes%@d", @bytes);
}
