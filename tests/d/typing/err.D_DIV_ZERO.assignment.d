/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A division by a constant zero is found at once.
 */
BEGIN
{
	x = 1;
	x /= 0;
	exit(0);
}
