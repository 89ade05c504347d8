/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A digit that is not octal.
 */
BEGIN
{
	trace(08);
}
