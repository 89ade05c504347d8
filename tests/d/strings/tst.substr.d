/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: substr counts from either end.
 */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", substr("hello world", 6), substr("hello", 1, 3));
	printf("%s %s\n", substr("hello", -3), substr("hello", -3, 2));
	printf("[%s] [%s]\n", substr("hello", 5), substr("hello", 0, -2));
	exit(0);
}
