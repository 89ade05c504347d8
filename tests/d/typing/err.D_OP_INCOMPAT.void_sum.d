/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A void pointer cannot be counted on.
 */
BEGIN
{
	trace((void *)0 + 1);
	exit(0);
}
