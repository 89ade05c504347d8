#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackcount: from where a kernel function is called: its stacks, counted
 *
 * Use:
 *   outsight tool stackcount [-g GUEST] FUNCTION [PROGRAM]
 *   FUNCTION   a kernel function; * and ? match several: 'vfs_*'
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   vmlinux`vfs_read
 *   vmlinux`ksys_read+0x6b
 *   vmlinux`do_syscall_64+0x5d
 *   vmlinux`entry_SYSCALL_64_after_hwframe+0x6e
 *                500
 *
 * Caveats:
 *   Ctrl-C prints the 50 most frequent, the most frequent last.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::$1:entry
/$$2 == "" || execname == $$2/
{
	@calls[stack()] = count();
}

END
{
	trunc(@calls, 50);
	printa("%k%@16d\n", @calls);
}
