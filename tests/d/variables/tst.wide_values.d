/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable of any integer type keeps all 64 bits of what is assigned to it: what its first value was does not
 * cut the others. Records and casts have the width of the type.
 */
#pragma D option quiet

this int t;
struct { int n; } s;

BEGIN
{
	start = 0;
	self->start = 0;
	this->start = 0;
	at["x"] = 0;
}

BEGIN
{
	start = timestamp;
	self->start = timestamp;
	this->start = timestamp;
	this->t = timestamp;
	at["x"] = timestamp;
	printf("%d %d %d %d %d\n", timestamp - start, timestamp - self->start, timestamp - this->start,
	    timestamp - this->t, timestamp - at["x"]);
	n = 1;
	wide = 0x123456789;
	n = wide;
	printf("%x %x %x %d\n", n, (long)n, n + 0L, n == 0x123456789);
	n += 0x100000000;
	n++;
	printf("%x %x\n", n, n + 0L);
	@ = sum(n);
	printa("%@x\n", @);
	s.n = 0x123456789;
	printf("%x\n", s.n + 0L);
	exit(0);
}
