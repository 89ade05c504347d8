/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggsortkey sorts by key.
 */
#pragma D option quiet

#pragma D option aggsortkey

BEGIN
{
	@["b"] = sum(1);
	@["a"] = sum(2);
	exit(0);
}
