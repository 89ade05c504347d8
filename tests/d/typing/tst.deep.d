/* ASSERTION: an expression of eleven operands that are all kept needs no more registers than there are. */
#pragma D option quiet

BEGIN
{
	a = b = c = d = e = f = g = h = i = j = k = 100;
	printf("%d", a++ + (b++ + (c++ + (d++ + (e++ + (f++ + (g++ + (h++ + (i++ + (j++ + k++))))))))));
	printf(" %d %d\n", a, k);
	exit(0);
}
