/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Two parameters of a function have two names.
 */
int f(int x, int x);

BEGIN
{
	exit(0);
}
