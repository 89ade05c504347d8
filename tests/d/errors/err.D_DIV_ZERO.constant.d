/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Division by a constant zero.
 */
BEGIN
{
	trace(1 / 0);
}
