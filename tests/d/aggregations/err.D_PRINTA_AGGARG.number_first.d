/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: what is neither a format nor an aggregation is no argument of printa().
 */
BEGIN
{
	@a = count();
	printa(5, @a);
}
