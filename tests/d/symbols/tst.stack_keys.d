/*
 * ASSERTION: Stacks and symbols are keys of aggregations; printa() prints them with %k, %a and %A.
 */
#pragma D option quiet

BEGIN
{
	@s[stack(2)] = count();
	@u[ustack(2)] = count();
	@y[sym(1), mod(2)] = count();
	@z[usym(3), umod(4), uaddr(5)] = count();
	printa("%k%@d\n", @s);
	printa("%k%@d\n", @u);
	printa("%a %a %@d\n", @y);
	printa("%A %A %A %@d\n", @z);
	printa("%10a|%-10a|%@d\n", @y);
	exit(0);
}
