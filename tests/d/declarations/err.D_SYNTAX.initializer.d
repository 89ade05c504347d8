/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A declaration has no initialiser.
 */
int x = 5;

BEGIN
{
	exit(0);
}
