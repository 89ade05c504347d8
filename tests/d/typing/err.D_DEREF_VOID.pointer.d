/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Nothing is behind a void pointer.
 */
BEGIN
{
	p = (void *)0;
	trace(*p);
	exit(0);
}
