/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Each clause sees what the clauses before it did.
 */
#pragma D option quiet

int x;

BEGIN
/!x/
{
	x = 1;
}

BEGIN
/!x/
{
	printf("never\n");
}

BEGIN
/x/
{
	printf("once\n");
	exit(0);
}
