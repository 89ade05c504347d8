#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iotop: bytes of block I/O by process and device
 *
 * Use:
 *   outsight tool iotop [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *       PID PROGRAM          DEV      DIR          BYTES
 *       185 dd               loop0    R            32768
 *       184 dd               loop0    W            35840
 *
 * Caveats:
 *   A request that the kernel splits is one here, from the program's submission to its last part.
 *   Writes are submitted by kernel threads (kworker, jbd2) when they leave the page cache.
 *   The 20 largest are printed.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

fbt::submit_bio_noacct_nocheck:entry, fbt::submit_bio_noacct:entry
/(probefunc == "submit_bio_noacct_nocheck" || !__has_symbol(`submit_bio_noacct_nocheck))/
{
	@bytes[pid, execname, xlate <devinfo_t *> ((struct bio *)arg0)->dev_statname,
	    xlate <bufinfo_t *> ((struct bio *)arg0)->b_flags & B_READ ? "R" : "W"] =
	    sum(xlate <bufinfo_t *> ((struct bio *)arg0)->b_bcount);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%7s %-16s %-8s %-3s %14s\n", "PID", "PROGRAM", "DEV", "DIR", "BYTES");
	trunc(@bytes, 20);
	printa("%7d %-16s %-8s %-3s %@14d\n", @bytes);
	trunc(@bytes);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printf("%7s %-16s %-8s %-3s %14s\n", "PID", "PROGRAM", "DEV", "DIR", "BYTES");
	printa("%7d %-16s %-8s %-3s %@14d\n", @bytes);
}
