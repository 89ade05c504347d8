/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa of several aggregations joins them on the key; a missing cell is 0.
 */
#pragma D option quiet

BEGIN
{
	@a["x"] = sum(5);
	@a["y"] = sum(7);
	@b["x"] = count();
	exit(0);
}

END
{
	printa("%s %@d %@d\n", @a, @b);
}
