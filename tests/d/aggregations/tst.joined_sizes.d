/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a printa() of several aggregations joins keys of one size; other sizes are other rows.
 */
#pragma D option quiet

BEGIN
{
	@a[1, "x"] = sum(1);
	@a[(char)1, "x"] = sum(2);
	@b[1, "x"] = sum(3);
	@b[(char)1, "x"] = sum(4);
	@b[(short)1, "x"] = sum(5);
	printa(@a, @b);
	exit(0);
}
