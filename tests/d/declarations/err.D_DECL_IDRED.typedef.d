/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A type of the name of a variable.
 */
int foo;
typedef int foo;

BEGIN
{
	exit(0);
}
