/* ASSERTION: link_ntop() shows Ethernet and InfiniBand addresses, and no others. */
#pragma D option quiet

BEGIN
{
	this->a = (uint8_t *)alloca(20);
	this->a[0] = 0x52;
	this->a[5] = 0xab;
	printf("%s\n", link_ntop(1, this->a));
	printf("%s\n", link_ntop(32, this->a));
}

BEGIN
{
	link_ntop(2, alloca(20));
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_ILLOP);
	exit(0);
}
