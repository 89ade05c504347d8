/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct has no sign.
 */
unsigned struct s { int a; } x;

BEGIN
{
	exit(0);
}
