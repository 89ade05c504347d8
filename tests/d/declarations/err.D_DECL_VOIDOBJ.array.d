/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: There are no arrays of void.
 */
void x[5];

BEGIN
{
	exit(0);
}
