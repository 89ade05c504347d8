/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Bit-fields are integers.
 */
struct s { float a : 3; };

BEGIN
{
	exit(0);
}
