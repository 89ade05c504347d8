/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A char is not long.
 */
long char x;

BEGIN
{
	exit(0);
}
