/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Entries are sorted by value, then by key.
 */
#pragma D option quiet

BEGIN
{
	@["pear"] = sum(2);
	@["apple"] = sum(3);
	@["zebra"] = sum(1);
	@["fig"] = sum(2);
	exit(0);
}
