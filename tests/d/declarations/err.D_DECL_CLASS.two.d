/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable has one storage class.
 */
self this int x;

BEGIN
{
	exit(0);
}
