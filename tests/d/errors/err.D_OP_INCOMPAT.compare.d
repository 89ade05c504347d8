/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string cannot be compared with an integer.
 */
BEGIN
{
	trace("x" == 1);
}
