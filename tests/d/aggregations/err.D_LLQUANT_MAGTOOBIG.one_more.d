/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: the power after the last one has to grow too.
 */
BEGIN
{
	@a = llquantize(1, 10, 0, 18, 10);
}
