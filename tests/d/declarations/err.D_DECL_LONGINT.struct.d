/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct is not long.
 */
long struct s { int a; } x;

BEGIN
{
	exit(0);
}
