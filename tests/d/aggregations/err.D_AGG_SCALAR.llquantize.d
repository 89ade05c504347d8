/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: what llquantize() counts is a scalar.
 */
BEGIN
{
	@a = llquantize(execname, 2, 0, 6, 2);
}
