/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: There are no arrays of associative arrays.
 */
int x[5][int];

BEGIN
{
	exit(0);
}
