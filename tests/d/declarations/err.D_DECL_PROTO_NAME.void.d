/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A void parameter has no name.
 */
int f(void x);

BEGIN
{
	exit(0);
}
