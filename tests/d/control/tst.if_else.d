/*
 * ASSERTION: if takes the branch that its condition says, braces or not, as deep as one likes.
 */
#pragma D option quiet

int n;

tick-1ms
{
	if (n == 0)
		printf("none\n");
	else if (n == 1) {
		printf("one\n");
	} else {
		if (n % 2)
			printf("odd\n");
		else {
			printf("even ");
			printf("%d\n", n);
		}
	}
	if (n > 2) { }
	n++;
}

tick-1ms
/n == 5/
{
	if (1) exit(0); else exit(1);
}
