/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A function can't be a member; only a pointer to one can.
 */
struct { int member(); };

BEGIN
{
	exit(0);
}
