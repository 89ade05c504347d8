/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a base is an integer.
 */
BEGIN
{
	@a = lquantize(1, execname, 10);
}
