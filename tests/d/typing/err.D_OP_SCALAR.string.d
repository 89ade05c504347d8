/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string does not count.
 */
BEGIN
{
	s = "a";
	s++;
	exit(0);
}
