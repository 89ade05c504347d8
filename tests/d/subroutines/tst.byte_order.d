/* ASSERTION: The six functions of byte order swap their size of bytes; each undoes its twin. */
#pragma D option quiet

BEGIN
{
	printf("%x %x\n", htons(0x1234), ntohs(0xff01));
	printf("%x %x\n", htonl(0x12345678), ntohl(0x1));
	printf("%x %x\n", htonll(0x123456789abcdef0), ntohll(0x1));
	printf("%x %d\n", htons(0xab1234), ntohl(htonl(77)) == 77 && ntohll(htonll(-5)) == -5);
	printf("%d %d %d\n", sizeof (htons(1)), sizeof (htonl(1)), sizeof (htonll(1)));
	exit(0);
}
