/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Registers are counted from 0.
 */
BEGIN
{
	trace(uregs[-1]);
	exit(0);
}
