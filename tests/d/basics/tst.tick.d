/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: tick-n fires again and again, on one CPU.
 */
#pragma D option quiet

tick-10ms
{
	i++;
}

tick-10ms
/i == 3/
{
	printf("%d %d\n", i, cpu);
	exit(0);
}
