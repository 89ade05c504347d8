#!/usr/sbin/dtrace -Cs
/*
 * ASSERTION: the interpreter's line is not for cpp, and lines keep their numbers.
 * @@cpp
 * @@args: -q
 */
BEGIN
{
	printf("%d\n", __LINE__);
	exit(0);
}
