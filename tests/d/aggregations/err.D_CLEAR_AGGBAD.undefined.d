/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: clear() takes a defined aggregation.
 */
BEGIN
{
	clear(@never);
}
