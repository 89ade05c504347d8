/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Strings compare bytewise; NULL equals the empty string.
 */
#pragma D option quiet

string none;

BEGIN
{
	printf("%d %d %d %d\n", "abc" < "abd", "abc" == "abc", "b" > "abc", "a" != "a");
	printf("%d\n", none == "");
	exit(0);
}
