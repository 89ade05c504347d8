/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An integer is signed or unsigned.
 */
signed unsigned int x;

BEGIN
{
	exit(0);
}
