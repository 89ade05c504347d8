/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: void stands alone.
 */
int f(int, void);

BEGIN
{
	exit(0);
}
