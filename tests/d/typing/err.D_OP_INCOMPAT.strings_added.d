/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Strings are not added.
 */
BEGIN
{
	trace("a" + "b");
	exit(0);
}
