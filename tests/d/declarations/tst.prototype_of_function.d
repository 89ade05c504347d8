/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A prototype of the name of one of D's functions is accepted, and D's function stays.
 */
#pragma D option quiet

void func(int, int);
int strlen(const char *, int);

BEGIN
{
	printf("%d\n", strlen("four"));
	exit(0);
}
