/* ASSERTION: Internet addresses as text: the longest run of zeros once, an embedded v4 address as such. */
#pragma D option quiet

BEGIN
{
	this->a = (uint8_t *)alloca(16);
	printf("%s %s\n", inet_ntoa((ipaddr_t *)this->a), inet_ntoa6(this->a));
	this->a[15] = 1;
	printf("%s %s\n", inet_ntoa6(this->a), inet_ntop(AF_INET6, this->a));
	this->a[12] = 127;
	printf("%s %s\n", inet_ntoa6(this->a), inet_ntop(AF_INET6, this->a));
	this->a[10] = 0xff;
	this->a[11] = 0xff;
	printf("%s %s\n", inet_ntoa6(this->a), inet_ntop(AF_INET6, this->a));
	this->a[11] = 0xfe;
	printf("%s %s\n", inet_ntoa6(this->a), inet_ntop(AF_INET6, this->a));
	this->a[0] = 0xfe;
	this->a[1] = 0x80;
	this->a[4] = 1;
	printf("%s\n", inet_ntoa6(this->a));
	this->v4 = (in_addr_t *)alloca(4);
	*this->v4 = htonl(0xc0a80a01);
	printf("%s %s\n", inet_ntoa(this->v4), inet_ntop(AF_INET, this->v4));
}

BEGIN
{
	inet_ntop(77, alloca(4));
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_ILLOP);
	exit(0);
}
