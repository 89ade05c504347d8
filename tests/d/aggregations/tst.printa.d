/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa with a format is applied once an entry; a printed aggregation is not printed at the end.
 */
#pragma D option quiet

BEGIN
{
	@a["x", 1] = sum(5);
	@a["y", 2] = sum(3);
	exit(0);
}

END
{
	printa("%s-%d: %@d\n", @a);
}
