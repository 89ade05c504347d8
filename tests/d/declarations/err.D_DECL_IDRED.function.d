/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A function is no variable.
 */
int strlen;

BEGIN
{
	exit(0);
}
