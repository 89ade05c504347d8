/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Without a guest arg0 of tick is 0 and arg1 is not.
 */
#pragma D option quiet

tick-20ms
{
	printf("%d %d\n", arg0 == 0, arg1 != 0);
	exit(0);
}
