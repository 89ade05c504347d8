/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline does not know itself yet.
 */
inline int i = i + 1;

BEGIN
{
	exit(0);
}
