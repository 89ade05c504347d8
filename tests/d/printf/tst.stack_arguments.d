/*
 * ASSERTION: printf() takes stack() ustack() jstack() with %k, sym() func() mod() with %a, usym() umod()
 * uaddr() ufunc() with %A, among other arguments.
 */
#pragma D option quiet

BEGIN
{
	printf("%k%d|%k%s|%k\n", stack(1), 5, ustack(3), "text", jstack());
	printf("%a|%10a|%-10a|%d\n", sym(1), func(2), mod(3), 4);
	printf("%A|%A|%10A|%-10A|\n", usym(1), umod(2), uaddr(3), ufunc(4));
	stack(2);
	printf("%d\n", 6);
	exit(0);
}
