/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa() keeps from the end what the clauses whose data it showed have made, not what others add.
 */
#pragma D option quiet
#pragma D option aggrate=1ms
#pragma D option switchrate=1ms

tick-20ms
/n == 0/
{
	@a[1] = count();
	@b[1] = count();
	n++;
}

tick-300ms
{
	@c[1] = count();
	exit(0);
}

tick-200ms
{
	printa(@a);
	printa("%d: %@d %@d\n", @b, @c);
}

END
{
	@a[1] = count();
	@a[2] = count();
	@b[3] = count();
}
