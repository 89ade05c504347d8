/* ASSERTION: %f takes floating-point data. */
BEGIN
{
	printf("%f", 1);
}
