/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A constant is not assigned to.
 */
BEGIN
{
	3 = 4;
	exit(0);
}
