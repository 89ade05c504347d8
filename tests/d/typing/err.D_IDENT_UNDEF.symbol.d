/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Without a guest there are no symbols.
 */
BEGIN
{
	trace(`jiffies);
	exit(0);
}
