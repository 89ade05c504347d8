/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: clear() keeps keys and restarts every function at 0, min and max too.
 */
#pragma D option quiet
#pragma D option aggrate=1ms
#pragma D option switchrate=1ms

int n;

tick-100ms
/n == 0 || n == 2/
{
	@min[1] = min(5);
	@max[1] = max(-5);
	@avg[1] = avg(8);
	@sum[1] = sum(8);
	@dev[1] = stddev(8);
	@q[1] = quantize(8);
	@lq[1] = lquantize(3, 0, 4);
	@ll[1] = llquantize(3, 2, 0, 6, 2);
}

tick-100ms
/n == 1/
{
	clear(@min);
	clear(@max);
	clear(@avg);
	clear(@sum);
	clear(@dev);
	clear(@q);
	clear(@lq);
	clear(@ll);
}

tick-100ms
/n == 1 || n == 3/
{
	printa("%@d ", @min);
	printa("%@d ", @max);
	printa("%@d ", @avg);
	printa("%@d ", @sum);
	printa("%@d\n", @dev);
	printa("%@d", @q);
	printa("%@d", @lq);
	printa("%@d", @ll);
}

tick-100ms
/n++ == 3/
{
	exit(0);
}
