/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: under bufpolicy=fill actions on aggregations are carried out at the end, when all data is there.
 */
#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=64k

BEGIN
{
	@a[1] = count();
	printa("%d: %@d\n", @a);
	clear(@a);
	printa("%d: %@d\n", @a);
}

tick-10ms
{
	@a[1] = count();
	exit(0);
}
