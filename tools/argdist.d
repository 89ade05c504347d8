#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * argdist: values of an argument of a kernel function, or of its result, as a distribution
 *
 * Use:
 *   outsight tool argdist [-g GUEST] FUNCTION [N]
 *   FUNCTION   a kernel function; * and ? match several: 'vfs_*'
 *   N          which argument, from 0; r is the result. 0 without it
 *
 * Example:
 *   vfs_read, argument 2
 *              value  ------------- Distribution ------------- count
 *                  0 |                                         0
 *                  1 |@@@@                                     50
 *                  2 |@@                                       32
 *                  4 |@@@                                      34
 *                  8 |@@                                       28
 *                 16 |@@@                                      41
 *                 32 |@@                                       28
 *                 64 |@@                                       23
 *                128 |@@                                       30
 *                256 |@                                        18
 *                512 |@@                                       31
 *               1024 |@@@                                      38
 *               2048 |@@                                       29
 *               4096 |@@                                       25
 *               8192 |@@                                       25
 *              16384 |@@@                                      34
 *              32768 |@@                                       26
 *              65536 |@@                                       22
 *             131072 |                                         0
 *
 * Caveats:
 *   Arguments are taken as signed numbers of 64 bits; one of 32 bits may have other bits above. Ctrl-C prints them.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::$1:entry
/$$2 != "r"/
{
	this->n = $$2 == "" ? 0 : strtoll($$2);
	@values[probefunc, $$2] = quantize((int64_t)(this->n == 0 ? arg0 : this->n == 1 ? arg1 : this->n == 2 ? arg2 :
	    this->n == 3 ? arg3 : this->n == 4 ? arg4 : arg5));
}

fbt::$1:return
/$$2 == "r"/
{
	@results[probefunc] = quantize((int64_t)arg1);
}

END
{
	printa("\n%s, argument %s%@d", @values);
	printa("\n%s, result%@d", @results);
}
