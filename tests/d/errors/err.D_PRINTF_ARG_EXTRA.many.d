/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printf with too many arguments.
 */
BEGIN
{
	printf("%d\n", 1, 2);
}
