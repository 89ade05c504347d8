/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: denormalize() takes one argument.
 */
BEGIN
{
	@a = count();
	denormalize(@a, 1);
}
