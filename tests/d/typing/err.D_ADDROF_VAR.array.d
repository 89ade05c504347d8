/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An associative array has no address.
 */
BEGIN
{
	a[1] = 2;
	trace(&a[1]);
	exit(0);
}
