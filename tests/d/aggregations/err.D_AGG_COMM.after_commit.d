/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: nothing aggregates after commit().
 */
BEGIN
{
	commit(1);
	@a = count();
}
