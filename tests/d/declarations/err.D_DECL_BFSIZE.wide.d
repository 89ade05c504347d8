/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A bit-field is not wider than its type.
 */
struct s { char a : 9; };

BEGIN
{
	exit(0);
}
