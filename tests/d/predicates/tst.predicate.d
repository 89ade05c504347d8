/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause runs when its predicate is not zero.
 */
#pragma D option quiet

BEGIN
/0/
{
	printf("never\n");
}

BEGIN
/1/
{
	printf("always\n");
	x = 2;
}

BEGIN
/x == 2 && execname == "dtrace"/
{
	printf("both\n");
}

BEGIN
/x / 2 == 1/
{
	printf("division\n");
	exit(0);
}
