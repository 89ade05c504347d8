/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trunc keeps the n largest, or with a negative n the smallest; normalize divides.
 */
#pragma D option quiet

BEGIN
{
	@a["a"] = sum(10);
	@a["b"] = sum(20);
	@a["c"] = sum(30);
	@b["a"] = sum(10);
	@b["b"] = sum(20);
	@n["n"] = sum(100);
	@gone["x"] = count();
	exit(0);
}

END
{
	trunc(@a, 2);
	trunc(@b, -1);
	trunc(@gone);
	normalize(@n, 7);
	printa("a %s %@d\n", @a);
	printa("b %s %@d\n", @b);
	printa("n %s %@d\n", @n);
	denormalize(@n);
	printa("n %s %@d\n", @n);
	printa("gone %s %@d\n", @gone);
}
