/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: void has no size.
 */
BEGIN
{
	trace(sizeof(void));
	exit(0);
}
