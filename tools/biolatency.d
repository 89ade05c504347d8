#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * biolatency: how long block I/O takes, as distributions by device
 *
 * Use:
 *   outsight tool biolatency [-g GUEST]
 *
 * Example:
 *   loop0 R, us
 *              value  ------------- Distribution ------------- count
 *                512 |                                         0
 *               1024 |@@@@@@@                                  1
 *               2048 |@@@@@@@                                  1
 *               4096 |@@@@@@@                                  1
 *               8192 |@@@@@@@@@@@@@@@@@@@@                     3
 *              16384 |                                         0
 *
 * Caveats:
 *   From submission to completion, so the time in queues is included. Ctrl-C prints the distributions.
 *   A request that the kernel splits is one here, from the program's submission to its last part.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::submit_bio_noacct_nocheck:entry, fbt::submit_bio_noacct:entry
/(probefunc == "submit_bio_noacct_nocheck" || !__has_symbol(`submit_bio_noacct_nocheck)) && !began[arg0]/
{
	began[arg0] = timestamp;
	dev[arg0] = xlate <devinfo_t *> ((struct bio *)arg0)->dev_statname;
}

fbt::bio_endio:entry
/began[arg0] && ((struct bio *)arg0)->__bi_remaining.counter <= 1/
{
	@us[dev[arg0], xlate <bufinfo_t *> ((struct bio *)arg0)->b_flags & B_READ ? "R" : "W"] =
	    quantize((timestamp - began[arg0]) / 1000);
	began[arg0] = 0;
	dev[arg0] = 0;
}

END
{
	printa("\n%s %s, us%@d", @us);
}
