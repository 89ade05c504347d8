/*
 * ASSERTION: -C defines what dtrace defines, -D and -U add and remove, and conditions choose.
 * @@cpp
 * @@args: -D ONE -D TWO=22 -D THREE=3 -U THREE -q
 */
#define ADD(a, b)	((a) + (b))
#if !defined(__SUNW_D) || !defined(__unix) || !defined(__SVR4) || !defined(__linux)
#error no D
#endif
#if __SUNW_D != 1 || __SUNW_D_VERSION < 0x01000000
#error which D
#endif
#if defined(ONE) && ONE == 1 && TWO == 22 && !defined(THREE) && !defined(linux)
BEGIN
{
#ifdef FLAG
	printf("flag ");
#else
	printf("no flag ");
#endif
	printf("%d %d\n", ADD(ONE, TWO), __LINE__);
	exit(0);
}
#else
BEGIN
{
	exit(1);
}
#endif
