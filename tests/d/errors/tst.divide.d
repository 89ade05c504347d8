/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A division by zero ends its clause, its record is discarded, and ERROR fires.
 */
#pragma D option quiet

int zero;

BEGIN
{
	printf("lost\n");
	x = 1;
	trace(10 / zero);
}

BEGIN
{
	printf("x %d\n", x);
	exit(0);
}

ERROR
{
	printf("action %d fault %d\n", arg2, arg4);
}
