/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable is not called.
 */
BEGIN
{
	pid(1);
	exit(0);
}
