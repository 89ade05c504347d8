/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Members are those of structs.
 */
BEGIN
{
	trace(offsetof(int, a));
	exit(0);
}
