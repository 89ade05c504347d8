/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A thread-local variable has one type.
 */
self int foo;
self string foo;

BEGIN
{
	exit(0);
}
