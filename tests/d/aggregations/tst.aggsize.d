/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggsize is the room for all keys between two switches: if they fit, nothing is dropped.
 */
#pragma D option quiet
#pragma D option aggsize=4k
#pragma D option aggrate=1ms
#pragma D option switchrate=1ms

int n;

tick-1ms
/n < 300/
{
	@a["all"] = count();
	@b[n % 3] = count();
	n++;
}

tick-1ms
/n == 300/
{
	exit(0);
}
