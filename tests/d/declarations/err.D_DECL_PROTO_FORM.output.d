/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What a probe hands out is one of the arguments that it has.
 */
provider foo {
	probe p(int x) : (int y);
};

BEGIN
{
	exit(0);
}
