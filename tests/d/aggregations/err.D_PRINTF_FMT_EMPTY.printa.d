/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa() refuses an empty format.
 */
BEGIN
{
	@a = count();
	printa("", @a);
}
