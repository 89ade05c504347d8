/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A declaration names something.
 */
int;

BEGIN
{
	exit(0);
}
