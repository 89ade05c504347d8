/*
 * ASSERTION: %P prints a port's service or its number, %I the host of an address or the address.
 */
#pragma D option quiet

BEGIN
{
	printf("%P|%6P|\n", (uint16_t)64999, (uint16_t)64998);
	printf("%I|%20I|\n", "no address", "256.1.1.1");
	exit(0);
}
