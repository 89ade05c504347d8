/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggsortpos says which of several aggregations sorts; the next ones break ties, and a position behind the last is the first.
 */
#pragma D option quiet

BEGIN
{
	@a[1] = sum(2);
	@a[2] = sum(1);
	@a[3] = sum(3);
	@b[1] = sum(5);
	@b[2] = sum(5);
	@b[4] = sum(-1);
	@c[3] = sum(9);
	@c[1] = sum(9);
	printa("%d: %@d %@d %@d\n", @a, @b, @c);
	printf("1\n");
	setopt("aggsortpos", "1");
	printa("%d: %@d %@d %@d\n", @a, @b, @c);
	printf("2\n");
	setopt("aggsortpos", "2");
	printa("%d: %@d %@d %@d\n", @a, @b, @c);
	printf("3\n");
	setopt("aggsortpos", "3");
	printa("%d: %@d %@d %@d\n", @a, @b, @c);
	printf("key\n");
	setopt("aggsortkey");
	printa("%d: %@d %@d %@d\n", @a, @b, @c);
	printf("key, reversed\n");
	setopt("aggsortrev");
	printa("%d: %@d %@d %@d %@d\n", @a, @a, @c, @a);
	exit(0);
}
