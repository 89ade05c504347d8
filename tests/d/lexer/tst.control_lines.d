#!/usr/sbin/dtrace -s
   #pragma D option quiet
/*
 * ASSERTION: control lines begin wherever a line does, blanks and clauses around them or not, and
 * may be continued.
 */
#pragma \
	D option \
	strsize=16
BEGIN
{
	# pragma D option aggsortkey
	printf("%d\n",
#ident "here"
	    sizeof (string));
#! ignored
	exit(0);
}
