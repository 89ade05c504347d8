/*
 * ASSERTION: A clause-local variable keeps its value from clause to clause and from firing to firing.
 */
#pragma D option quiet

this int x;
this string s;

BEGIN { this->x = 3; this->s = "hello"; }
BEGIN { printf("%d %s\n", this->x, this->s); this->x++; }
tick-10ms { printf("%d %s\n", this->x, this->s); exit(0); }
