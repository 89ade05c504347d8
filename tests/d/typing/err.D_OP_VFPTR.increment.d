/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A void pointer has no next.
 */
BEGIN
{
	p = (void *)0;
	p++;
	exit(0);
}
