/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A fault is reported on stderr; the exit status stays.
 * @@stderr: dtrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): divide-by-zero in predicate at DIF offset 
 */
#pragma D option quiet

int zero;

BEGIN
/1 % zero/
{
}

BEGIN
{
	exit(0);
}
