/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: With defaultargs an argument that was not given is 0 or "".
 */
#pragma D option quiet

#pragma D option defaultargs

BEGIN
{
	printf("%d [%s]\n", $1, $$2);
	exit(0);
}
