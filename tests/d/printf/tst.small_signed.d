/*
 * ASSERTION: %d shows chars and shorts as their bytes are, without a sign, as trace() does; %i and %hd
 * show the sign.
 */
#pragma D option quiet

BEGIN
{
	c = (char)-1;
	s = (short)-2;
	printf("%d %i %u %x\n", c, c, c, c);
	printf("%d %i %u %x %hd %hi\n", s, s, s, s, s, s);
	printf("%d %i\n", -3, -3);
	exit(0);
}
