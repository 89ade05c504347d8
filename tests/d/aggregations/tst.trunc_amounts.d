/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trunc() keeps the largest or, below 0, the smallest, whatever the options of order; 0 or nothing keeps none.
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option aggsortkey

BEGIN
{
	@top[1] = sum(10);
	@top[2] = sum(30);
	@top[3] = sum(20);
	@low[1] = sum(10);
	@low[2] = sum(30);
	@low[3] = sum(20);
	@all[1] = count();
	@zero[1] = count();
	@plenty[1] = count();
	@q[1] = quantize(1);
	@q[2] = quantize(2);
	trunc(@top, 2);
	trunc(@low, -2);
	trunc(@all);
	trunc(@zero, 0);
	trunc(@plenty, 9);
	trunc(@plenty, (char)-9);
	trunc(@q, 1);
	exit(0);
}
