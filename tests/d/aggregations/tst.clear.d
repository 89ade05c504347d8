/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: clear zeroes values and keeps keys.
 */
#pragma D option quiet

BEGIN
{
	@a["k"] = sum(10);
	exit(0);
}

END
{
	clear(@a);
	printa("%s %@d\n", @a);
}
