/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a conversion of printa() without @ needs a key.
 */
BEGIN
{
	@a = count();
	printa("%d %@d\n", @a);
}
