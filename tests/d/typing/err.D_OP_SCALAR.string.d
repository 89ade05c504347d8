/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string cannot be incremented.
 */
BEGIN
{
	s = "a";
	s++;
	exit(0);
}
