/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trunc() takes two arguments at most.
 */
BEGIN
{
	@a = count();
	trunc(@a, 1, 2);
}
