/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa() of a format alone has no aggregation to print.
 */
BEGIN
{
	@a = count();
	printa("%@d");
}
