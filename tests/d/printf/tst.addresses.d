/*
 * ASSERTION: %a shows an address that no symbol has as a number with 0x, %p without.
 */
#pragma D option quiet

BEGIN
{
	printf("%a|%10a|%-10a|%p|%10p|\n", 16, (void *)16, 16, 16, (void *)16);
	exit(0);
}
