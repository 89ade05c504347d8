/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: lquantize needs its base below its limit.
 */
BEGIN
{
	@ = lquantize(1, 10, 5, 1);
}
