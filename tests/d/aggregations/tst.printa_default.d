/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa without a format prints a newline and the table.
 */
#pragma D option quiet

BEGIN
{
	@a["x"] = sum(5);
	exit(0);
}

END
{
	printa(@a);
}
