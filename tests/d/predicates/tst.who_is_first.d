/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The body goes before the predicate, unless it needs a name that the predicate makes.
 */
#pragma D option quiet


BEGIN
/i++ == 0 && self->seen == 0/
{
	self->seen = 1;
	printf("both\n");
}

BEGIN
/j++ >= 0/
{
	printf("predicate first: %d\n", j);
}

BEGIN
/k == 0/
{
	printf("body first: %d\n", k++);
	exit(0);
}
