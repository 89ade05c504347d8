/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Printing a NULL string is a fault; a string that was never assigned is empty.
 */
#pragma D option quiet

string s;
string a[int];

BEGIN
{
	printf("[%s]\n", s);
}

BEGIN
{
	printf("%s\n", a[1]);
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d address %x\n", arg4, arg5);
}
