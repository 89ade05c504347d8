/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: normalize() divides what is shown, not what is kept or sorted by, until denormalize(); keys to come are not divided.
 */
#pragma D option quiet
#pragma D option aggrate=1ms
#pragma D option switchrate=1ms

int n;

BEGIN
{
	@sum[1] = sum(1000);
	@sum[2] = sum(-1000);
	@avg = avg(7000);
	@min = min(99);
	@q = quantize(4, 1000);
	@lq = lquantize(4, 0, 10, 5, -1000);
}

tick-100ms
/n == 0/
{
	normalize(@sum, 300);
	normalize(@avg, 10);
	normalize(@min, 100);
	normalize(@q, 7);
	normalize(@lq, 7);
	printa("%d %@d\n", @sum);
	printa(@avg);
	printa(@min);
	printa(@q);
	printa(@lq);
}

tick-100ms
/n == 1/
{
	@sum[3] = sum(900);
	@sum[1] = sum(500);
}

tick-100ms
/n == 2/
{
	printa("%d %@d\n", @sum);
	normalize(@sum, 2);
	normalize(@sum, 100);
	printa("%d %@d\n", @sum);
	denormalize(@sum);
	denormalize(@lq);
	printa("%d %@d\n", @sum);
	printa(@lq);
	exit(0);
}

tick-100ms
{
	n++;
}
