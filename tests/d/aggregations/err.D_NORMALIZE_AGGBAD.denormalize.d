/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: denormalize() takes a defined aggregation.
 */
BEGIN
{
	denormalize(@never);
}
