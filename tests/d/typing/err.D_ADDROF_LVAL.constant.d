/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A constant has no address.
 */
BEGIN
{
	trace(&3);
	exit(0);
}
