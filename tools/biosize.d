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
 *               2048 |                                         0
 *               4096 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 8
 *               8192 |                                         0
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
