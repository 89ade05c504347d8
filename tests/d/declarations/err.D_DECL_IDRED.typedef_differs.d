/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A second typedef of a name is an error, of another type too.
 * @@stderr: dtrace: failed to compile script err.D_DECL_IDRED.typedef_differs.d: [D_DECL_IDRED] line 12: typedef redeclared: number
 */
typedef int number;

BEGIN
{
	exit(0);
}

typedef char number;
