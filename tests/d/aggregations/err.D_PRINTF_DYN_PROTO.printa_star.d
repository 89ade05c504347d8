/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a * of a printa() format needs a key.
 */
BEGIN
{
	@a[1] = count();
	printa("%d %*@d\n", @a);
}
