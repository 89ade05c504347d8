/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: compatible keys of different sizes keep them, and sort by the value all the same.
 */
#pragma D option quiet

BEGIN
{
	@a[(int)1, "x"] = sum(1);
	@a[(int64_t)1, "x"] = sum(2);
	@a[(char)1, "x"] = sum(3);
	@a[(short)1, "x"] = sum(4);
	@a[(int)1, "x"] = sum(8);
	printa(@a);
	printa("%d %s %@d\n", @a);
	exit(0);
}
