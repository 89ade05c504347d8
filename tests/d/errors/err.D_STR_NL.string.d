/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A newline in a string.
 */
BEGIN
{
	trace("a
");
}
