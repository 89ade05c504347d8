/* Arguments of system calls by their types, which calls of both ABIs have, and of programs by FreeBSD's name. */
#pragma D option quiet

syscall::openat:entry
/args[0] == -100 && execname == "cat"/
{
	printf("open %s\n", stringof(args[1]));
}

proc:::exec-success
/execname == "getppid_loop"/
{
	printf("exec %s\n", execargs);
}

syscall::getppid:entry
/execname == "getppid_loop"/
{
	exit(0);
}
