/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printf with too few arguments.
 */
BEGIN
{
	printf("%d %d\n", 1);
}
