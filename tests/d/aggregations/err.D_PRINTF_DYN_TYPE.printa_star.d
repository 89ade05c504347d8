/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a key that serves as a width must be an integer.
 */
BEGIN
{
	@a["wide"] = count();
	printa("%*@d\n", @a);
}
