/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: += is not for strings.
 */
BEGIN
{
	s = "a";
	s += 1;
	exit(0);
}
