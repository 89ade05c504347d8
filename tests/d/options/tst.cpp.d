/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: -C runs the preprocessor, -D defines a name.
 * @@cpp
 * @@args: -DN=7
 */
#pragma D option quiet

#define TWICE(x) ((x) * 2)

BEGIN
{
	printf("%d %d\n", TWICE(N), N);
	exit(0);
}
