#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filelife: files that live shortly: created and removed while the tool runs, with their age
 *
 * Use:
 *   outsight tool filelife [-g GUEST]
 *
 * Example:
 *       PID PROGRAM             AGE ms FILE
 *       225 rm                      94 short-lived
 *
 * Caveats:
 *   FILE is the last component of the name; a file that was renamed is named as at its end.
 *   Files that are made by mknod(2) or link(2) are not seen.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %9s %s\n", "PID", "PROGRAM", "AGE ms", "FILE");
}

/* 0x100000 is FMODE_CREATED: this open made the file. */
fbt::do_dentry_open:entry
/((struct file *)arg0)->f_mode & 0x100000/
{
	born[(uint64_t)((struct file *)arg0)->f_path.dentry] = timestamp;
}

fbt::d_delete:entry
/born[arg0]/
{
	printf("%7d %-16s %9d %s\n", pid, execname, (timestamp - born[arg0]) / 1000000,
	    stringof(((struct dentry *)arg0)->d_name.name));
	born[arg0] = 0;
}
