/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: timestamp does not change within a clause, and does not run backwards.
 */
#pragma D option quiet

BEGIN
{
	self->a = timestamp;
	self->b = timestamp;
	printf("%d\n", self->a == self->b);
}

BEGIN
{
	printf("%d %d\n", timestamp >= self->a, walltimestamp > 1500000000000000000);
	exit(0);
}
