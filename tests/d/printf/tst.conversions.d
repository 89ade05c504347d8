/*
 * ASSERTION: Each integer conversion, with and without a size, prints its argument: %d %i %u %o %x %X
 * %hd %hi %ho %hu %hx %hX %ld %li %lo %lu %lx %lX %lld %lli %llo %llu %llx %llX %c %p %%.
 */
#pragma D option quiet

BEGIN
{
	i = 97;
	printf("%d %i %u %o %x %X\n", i, i, i, i, i, i);
	printf("%hd %hi %ho %hu %hx %hX\n", (short)i, (short)-i, (ushort_t)i, (ushort_t)i, (ushort_t)171,
	    (ushort_t)171);
	printf("%ld %li %lo %lu %lx %lX\n", (long)i, (long)-i, (ulong_t)i, (ulong_t)i, (ulong_t)171,
	    (ulong_t)171);
	printf("%lld %lli %llo %llu %llx %llX\n", (longlong_t)i, (longlong_t)-i, (u_longlong_t)i,
	    (u_longlong_t)i, (u_longlong_t)171, (u_longlong_t)171);
	printf("%c %p %%\n", i, (void *)i);
	exit(0);
}
