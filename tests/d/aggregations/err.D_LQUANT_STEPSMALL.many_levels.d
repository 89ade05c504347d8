/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: there are at most 65535 levels.
 */
BEGIN
{
	@a = lquantize(1, 0, 65536);
}
