/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: lquantize() takes a base and a limit.
 */
BEGIN
{
	@a = lquantize(1, 0);
}
