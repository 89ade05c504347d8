/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ASSERTION: -x tree shows clauses as they were parsed, cut at their ifs and checked, and changes nothing else.
 *
 * @@args: -x tree=11
 * @@stderr: Parse tree of a clause, checked:
 */
BEGIN
{
	apples = 3;
	if (apples > 2)
		trace("enough");
	exit(0);
}
