/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A type is named once.
 */
typedef int foo;
typedef int foo;

BEGIN
{
	exit(0);
}
