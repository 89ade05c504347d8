/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A fault in a predicate skips that clause, fires ERROR with action 0, and the next clause runs.
 */
#pragma D option quiet

int zero;

BEGIN
/1 / zero/
{
	printf("never\n");
}

BEGIN
{
	printf("next\n");
	exit(0);
}

ERROR
{
	printf("epid %d action %d fault %d\n", arg1, arg2, arg4);
}
