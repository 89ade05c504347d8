/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause-local variable is no associative array.
 */
this int x[int];

BEGIN
{
	exit(0);
}
