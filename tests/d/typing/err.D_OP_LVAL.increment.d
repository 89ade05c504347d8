/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A constant is not incremented.
 */
BEGIN
{
	3++;
	exit(0);
}
