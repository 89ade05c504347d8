/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What a probe hands out is named.
 */
provider foo {
	probe p(int x) : (int);
};

BEGIN
{
	exit(0);
}
