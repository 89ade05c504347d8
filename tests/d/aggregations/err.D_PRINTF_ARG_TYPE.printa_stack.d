/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a stack is no number.
 */
BEGIN
{
	@a[stack()] = count();
	printa("%p\n", @a);
}
