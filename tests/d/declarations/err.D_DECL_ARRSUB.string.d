/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The size of an array is an integer.
 */
int a["x"];

BEGIN
{
	exit(0);
}
