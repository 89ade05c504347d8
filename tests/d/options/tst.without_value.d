/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Sizes, numbers and rates may stand without a value, which is 0 then: nothing is kept, or no time is waited for.
 * nolibs in a program comes too late to change anything.
 */
#pragma D option quiet
#pragma D option switchrate
#pragma D option aggrate
#pragma D option statusrate
#pragma D option cleanrate
#pragma D option nspec
#pragma D option stackindent
#pragma D option aggsortpos
#pragma D option nolibs

BEGIN
{
	printf("speculation %d\n", speculation());
	@[SIGKILL] = count();
}

tick-10ms
{
	exit(0);
}
