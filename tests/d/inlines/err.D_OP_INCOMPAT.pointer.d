/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline's pointer type is that of its expression.
 */
int *p;
inline char *q = p;

BEGIN
{
	exit(0);
}
