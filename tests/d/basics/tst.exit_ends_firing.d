/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: exit() lets its clause finish, stops the later clauses of the firing, and END runs.
 */
#pragma D option quiet

BEGIN
{
	printf("1\n");
	exit(0);
	printf("2\n");
}

BEGIN
{
	printf("never\n");
}

END
{
	printf("end\n");
}
