/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An aggregation has no value.
 */
BEGIN
{
	@a = count();
	trace(@a + 3);
}
