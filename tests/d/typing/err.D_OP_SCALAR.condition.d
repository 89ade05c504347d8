/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string is no condition.
 */
BEGIN
{
	trace("a" ? 1 : 2);
	exit(0);
}
