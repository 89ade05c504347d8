/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A predicate that changes a variable may be the first use of it, also where the body reads it; and a
 * predicate that only reads may use what its own body assigns first.
 */
#pragma D option quiet

BEGIN
/hits++ < 5/
{
	printf("hits %d\n", hits);
}

BEGIN
/!seen/
{
	seen = 1;
}

BEGIN
/seen/
{
	exit(0);
}
