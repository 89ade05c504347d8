/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A bit-field has at least one bit.
 */
struct s { int a : 0; };

BEGIN
{
	exit(0);
}
