/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggpercpu changes nothing of what is printed.
 */
#pragma D option quiet
#pragma D option aggpercpu

BEGIN
{
	@a[1] = sum(2);
	@a[1] = sum(3);
	printa(@a);
	clear(@a);
	printa("%d %@d\n", @a);
	exit(0);
}
