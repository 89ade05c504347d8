/* ASSERTION: arg0 to arg9 of BEGIN are 0; those of ERROR say what went wrong. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d %d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9);
}

BEGIN
{
	trace(1);
	trace(*(int *)8);
}

ERROR
{
	printf("%d %d %d %d %d %d %d\n", arg1, arg2, arg3 > 0, arg4, arg5, arg6, arg9);
	exit(0);
}
