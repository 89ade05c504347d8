#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functrace: calls of kernel functions, one line each, with their first arguments
 *
 * Use:
 *   outsight tool functrace [-g GUEST] FUNCTION [PROGRAM]
 *   FUNCTION   a kernel function; * and ? match several: 'vfs_*'
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM          FUNCTION                       ARGUMENTS
 *       327 reads            vfs_read                       ff46d76a1fbf9a00 4b82e0 2885 ff711b1fc032bbc8
 *       327 reads            vfs_read                       ff46d76a1fbf9a00 4b82e0 10000 ff711b1fc032bdc8
 *       327 reads            vfs_read                       ff46d76a1fbf9a00 4b82e0 11 ff711b1fc032bd60
 *       327 reads            vfs_read                       ff46d76a1fbf9a00 4b82e0 125f ff711b1fc032be38
 *       327 reads            vfs_read                       ff46d76a1fbf9a00 4b82e0 2 ff711b1fc032be28
 *
 * Caveats:
 *   Arguments are hexadecimal; more than four are cut, and those that the function does not have mean nothing.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-30s %s\n", "PID", "PROGRAM", "FUNCTION", "ARGUMENTS");
}

fbt::$1:entry
/$$2 == "" || execname == $$2/
{
	printf("%7d %-16s %-30s %x %x %x %x\n", pid, execname, probefunc, arg0, arg1, arg2, arg3);
}
