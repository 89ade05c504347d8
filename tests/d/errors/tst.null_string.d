/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Printing a NULL string is a fault.
 */
#pragma D option quiet

string s;

BEGIN
{
	printf("%s\n", s);
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d address %x\n", arg4, arg5);
}
