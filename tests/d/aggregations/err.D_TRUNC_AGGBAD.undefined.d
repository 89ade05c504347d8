/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trunc() takes a defined aggregation.
 */
BEGIN
{
	trunc(@never);
}
