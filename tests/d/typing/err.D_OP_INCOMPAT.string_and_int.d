/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string compares with no integer.
 */
BEGIN
{
	trace("a" == 1);
	exit(0);
}
