/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: void has no sign.
 */
unsigned void x;

BEGIN
{
	exit(0);
}
