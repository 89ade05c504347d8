/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A key must have a value.
 */
BEGIN
{
	a[(void)1] = 1;
}
