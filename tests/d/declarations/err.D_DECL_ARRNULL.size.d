/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array has a size or a signature.
 */
int a[];

BEGIN
{
	exit(0);
}
