/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: += needs the size of what a pointer leads to.
 */
BEGIN
{
	p = (void *)0;
	p += 1;
	exit(0);
}
