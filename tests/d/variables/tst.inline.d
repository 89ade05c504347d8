/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline is an expression with a name and a type.
 */
#pragma D option quiet

inline int LIMIT = 5 * 4;
inline string NAME = "inline";
inline int TWICE[int n] = n * 2;

BEGIN
{
	printf("%d %s %d\n", LIMIT + 1, NAME, TWICE[LIMIT]);
	exit(0);
}
