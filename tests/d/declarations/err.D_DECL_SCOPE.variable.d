/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable belongs to no module.
 */
int foo`bar;

BEGIN
{
	exit(0);
}
