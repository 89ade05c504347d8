/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An aggregation that there is not is no operand.
 */
BEGIN
{
	trace(@a + 3);
}
