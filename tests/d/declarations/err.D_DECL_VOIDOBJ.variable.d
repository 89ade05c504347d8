/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: There are no void variables.
 */
void x;

BEGIN
{
	exit(0);
}
