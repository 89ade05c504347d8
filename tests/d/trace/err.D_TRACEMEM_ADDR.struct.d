/* ASSERTION: tracemem() does not take a struct for an address. */
struct vp_test { int a; int b; int c; };
BEGIN
{
	tracemem(*(struct vp_test *)0, 4);
}
