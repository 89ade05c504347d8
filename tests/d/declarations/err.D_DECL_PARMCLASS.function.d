/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A parameter has no storage class.
 */
int f(static int x);

BEGIN
{
	exit(0);
}
