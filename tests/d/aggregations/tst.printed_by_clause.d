/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa() keeps from the end what the clauses whose data it showed have made, not what others add.
 */
#pragma D option quiet
#pragma D option destructive
#pragma D option aggrate=1ms
#pragma D option switchrate=1ms

END
{
	@c[1] = count();
}

tick-10ms
/!n++/
{
	@a[1] = count();
	@b[1] = count();
}

/* The end comes when this has been printed, and not by a time. */
tick-10ms
/n == 1/
{
	printa(@a);
	printa("%d: %@d %@d\n", @b, @c);
	system("kill -TERM %d", $pid);
}

END
{
	@a[1] = count();
	@a[2] = count();
	@b[3] = count();
}
