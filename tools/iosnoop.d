#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iosnoop: block I/O, one line for each request as it ends
 *
 * Use:
 *   outsight tool iosnoop [-g GUEST]
 *
 * Example:
 *       PID PROGRAM          DEV      DIR      SECTOR    BYTES        us
 *       181 dd               loop0    W          1634    16384     12880
 *       181 dd               loop0    W          3074    16384     31927
 *   ...
 *       182 dd               loop0    R          3074    16384     11966
 *       182 dd               loop0    R          1634    16384      2664
 *
 * Caveats:
 *   A request that the kernel splits is one here, from the program's submission to its last part.
 *   Writes are submitted by kernel threads (kworker, jbd2) when they leave the page cache.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-8s %-3s %11s %8s %9s\n", "PID", "PROGRAM", "DEV", "DIR", "SECTOR", "BYTES", "us");
}

/* At its end a request has neither its size nor its submitter any more. */
fbt::submit_bio_noacct_nocheck:entry, fbt::submit_bio_noacct:entry
/(probefunc == "submit_bio_noacct_nocheck" || !__has_symbol(`submit_bio_noacct_nocheck)) && !began[arg0]/
{
	began[arg0] = timestamp;
	by[arg0] = pid;
	name[arg0] = execname;
	sector[arg0] = xlate <bufinfo_t *> ((struct bio *)arg0)->b_blkno;
	bytes[arg0] = xlate <bufinfo_t *> ((struct bio *)arg0)->b_bcount;
	dev[arg0] = xlate <devinfo_t *> ((struct bio *)arg0)->dev_statname;
}

fbt::bio_endio:entry
/began[arg0] && ((struct bio *)arg0)->__bi_remaining.counter <= 1/
{
	printf("%7d %-16s %-8s %-3s %11d %8d %9d\n", by[arg0], name[arg0], dev[arg0],
	    xlate <bufinfo_t *> ((struct bio *)arg0)->b_flags & B_READ ? "R" : "W", sector[arg0], bytes[arg0],
	    (timestamp - began[arg0]) / 1000);
	began[arg0] = 0;
	by[arg0] = 0;
	name[arg0] = 0;
	sector[arg0] = 0;
	bytes[arg0] = 0;
	dev[arg0] = 0;
}
