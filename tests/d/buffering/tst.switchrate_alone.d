/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Aggregations that are due take no records with them: these wait for switchrate. BEGIN's come at once.
 */
#pragma D option quiet
#pragma D option switchrate=1min
#pragma D option aggrate=10ms

BEGIN
{
	printf("begin\n");
	setopt("quiet", "yes");
	@ = count();
}

tick-300ms
{
	@ = count();
	printa("%@d\n", @);
}

tick-300ms
/n++ == 2/
{
	exit(0);
}
