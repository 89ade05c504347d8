/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline has no storage class.
 */
inline self int i = 1;

BEGIN
{
	exit(0);
}
