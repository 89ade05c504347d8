/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: With slower rates set meanwhile, records wait until they are due, and what printa() prints is the sum as it
 * is then; exit() hands everything out, the last count included.
 */
#pragma D option quiet
#pragma D option switchrate=50ms
#pragma D option aggrate=50ms

tick-100ms
{
	@ = count();
}

tick-200ms
/n++ == 0/
{
	setopt("switchrate", "5sec");
	setopt("aggrate", "5sec");
}

tick-1sec
{
	printf("second %d:", ++seconds);
	printa(" %@d\n", @);
}

tick-1sec
/seconds == 4/
{
	exit(0);
}

END
{
	@end = count();
	printa("end %@d\n", @end);
}
