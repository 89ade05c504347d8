/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable has one type.
 */
int foo;
string foo;

BEGIN
{
	exit(0);
}
