/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string does not compare with an integer.
 */
BEGIN
{
	trace("x" == 1);
}
