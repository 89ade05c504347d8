/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Enumerators are ints: the one after the largest is none.
 */
enum e { A = 2147483647, B };

BEGIN
{
	exit(0);
}
