/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A pointer may lead anywhere in scratch memory, behind what alloca() gave too, and not out of it. Bytes that are
 * taken for a string end where they were allocated.
 */
#pragma D option quiet
#pragma D option bufsize=64k

BEGIN
{
	x = (int *)alloca(sizeof (int));
	y = (int *)(x + 2);
	*y = 3;
	printf("%d %d\n", *y, y - x);
	this->c = (char *)alloca(8);
	bcopy("abcdefgh", this->c, 8);
	printf("%s\n", stringof(this->c));
}

BEGIN
{
	*(x + (1 << 20)) = 3;
}

BEGIN
{
	*(x - 1) = 3;
}

ERROR
{
	printf("fault %d\n", arg4);
}

BEGIN
{
	exit(0);
}
