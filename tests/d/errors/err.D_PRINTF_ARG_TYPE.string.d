/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: %d does not print a string.
 */
BEGIN
{
	printf("%d\n", "x");
}
