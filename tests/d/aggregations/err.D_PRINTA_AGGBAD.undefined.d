/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: printa() takes a defined aggregation.
 */
BEGIN
{
	printa(@never);
}
