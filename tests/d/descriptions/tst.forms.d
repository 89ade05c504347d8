/*
 * ASSERTION: a description may be a name, more fields, empty fields, a glob of every kind, or an id.
 * @@args: dtrace tick-1 BEGIN
 */
#pragma D option quiet

BEGIN			{ printf("name "); }
:BEGIN			{ printf("function "); }
::BEGIN			{ printf("module "); }
:::BEGIN		{ printf("provider "); }
dtrace:::BEGIN		{ printf("full "); }
BEG*			{ printf("star "); }
B?G?N			{ printf("question "); }
BEGI[M-O]		{ printf("range "); }
[ABC]EGIN		{ printf("set "); }
BEGI[!A-M]		{ printf("negated "); }
BE\GIN			{ printf("quoted "); }
d*e:::B*		{ printf("globs "); }
1			{ printf("id "); }
1, dtrace:::BEGIN	{ printf("list "); }
$1:::BEGIN		{ printf("argument "); }
$1:::BEGI[N],
:::$3
/ 1 /
{ printf("both "); }

BEGIN			{ printf("\n"); exit(0); }
