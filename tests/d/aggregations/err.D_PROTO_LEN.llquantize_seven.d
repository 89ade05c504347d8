/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: llquantize() takes six arguments at most.
 */
BEGIN
{
	@a = llquantize(1, 2, 0, 6, 2, 3, 4);
}
