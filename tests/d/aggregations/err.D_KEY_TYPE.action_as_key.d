/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: only stacks and symbols are actions that make keys.
 */
BEGIN
{
	@a[printf("x")] = count();
}
