/* All probes of a provider in one clause, with the argument that they have in common. */
#pragma D option quiet

fsinfo:::
/execname == "dd"/
{
	@[args[0]->fi_name, probename, args[0]->fi_fs] = sum(arg1);
}

syscall::getppid:entry
/execname == "getppid_loop"/
{
	exit(0);
}

END
{
	printa("%s %s %s %@d\n", @);
}
