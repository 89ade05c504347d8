/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: nothing aggregates after speculate().
 */
BEGIN
{
	speculate(1);
	@a = count();
}
