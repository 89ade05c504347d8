/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: under bufpolicy=ring aggregations lose nothing, however often the ring wraps.
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256

int n;

tick-1ms
/n < 200/
{
	@all = count();
	@sum = sum(n);
	printf("%d ", n);
	n++;
}

tick-1ms
/n == 200/
{
	exit(0);
}

END
{
	printa("all %@d\n", @all);
	printa("sum %@d\n", @sum);
}
