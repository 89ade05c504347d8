/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An aggregation keeps one function.
 */
BEGIN
{
	@a = count();
	@a = sum(1);
}
