/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an increment is a scalar.
 */
BEGIN
{
	@a = quantize(1, execname);
}
