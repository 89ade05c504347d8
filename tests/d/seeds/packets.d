/* Arguments that only one version of IP has, and segments without a connection. */
#pragma D option quiet

ip:::send
/args[4] != NULL && !args[5]/
{
	@["ipv4", args[4]->ipv4_ver] = count();
}

ip:::send
/args[5] != NULL && args[4] == NULL/
{
	@["ipv6", args[5]->ipv6_ver] = count();
}

ip:::send
{
	@["all", 0] = count();
}

tcp:::send
{
	@[args[3] ? "connected" : "alone", 0] = count();
}

tcp:::
/args[1]->cs_cid/
{
	@["tcp", 0] = count();
}

syscall::getppid:entry
/execname == "getppid_loop"/
{
	exit(0);
}

END
{
	printa("%s %d %@d\n", @);
}
