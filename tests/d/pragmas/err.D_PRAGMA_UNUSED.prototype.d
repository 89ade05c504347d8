/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The attributes of a name with a semicolon wait for what never comes, a prototype before them or not.
 */
void func(int, int);

#pragma D attributes Stable/Stable/Common func;

BEGIN
{
	exit(0);
}
