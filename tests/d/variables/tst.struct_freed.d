/*
 * ASSERTION: Assigning 0 to an element or thread-local variable that holds a struct or union frees it: more of
 * them fit, and what is read then is zeros.
 */
#pragma D option quiet
#pragma D option dynvarsize=256k
#pragma D option cleanrate=1000hz

struct point { int x; int y; };
union word { int i; char c[4]; };
struct point p;
union word w;
int n;

tick-1ms { p.x = n; a[n] = p; a[n] = 0; w.i = n; self->w = w; self->w = 0; n++; }
tick-1ms
/n == 1000/
{
	a[1] = p;
	a[2] = p;
	a[1] = NULL;
	self->p = p;
	printf("%d %d %d %d\n", a[1].x, a[2].x, self->w.i, self->p.x);
	exit(0);
}
