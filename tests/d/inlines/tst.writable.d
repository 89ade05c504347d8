/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline that names a variable can be assigned to.
 */
#pragma D option quiet

struct record { char c; int i; };
struct record first;
inline struct record alias = first;
int tally;
inline int count_alias = tally;

BEGIN
{
	alias.i = 12;
	count_alias = 3;
	count_alias++;
	printf("%d %d\n", first.i, tally);
	exit(0);
}
