/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A pointer has no bits to set.
 */
BEGIN
{
	trace((void *)0 | 1);
	exit(0);
}
