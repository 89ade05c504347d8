/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Enumerators are ints.
 */
enum e { A = 2147483648 };

BEGIN
{
	exit(0);
}
