/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: %@ belongs to printa.
 */
BEGIN
{
	printf("%@d\n", 1);
}
