/*
 * Block I/O as programs of other systems have it: constants that choose what is printed, Solaris's module, and a
 * process's arguments kept as a char *.
 */
 inline int OPT_args = 1;
 inline int OPT_time = 0;

 #pragma D option quiet

BEGIN
{
	OPT_time ? printf("%-20s ", "TIME") : 1;
	OPT_args && !OPT_time ? printf("%-8s %s %8s %s\n", "DEVICE", "D", "BYTES", "ARGS") : 1;
}

io:genunix::start
{
	args_of[arg0] = (char *)curpsinfo->pr_psargs;
	since[arg0] = timestamp;
}

io:genunix::done
/since[arg0] && args[2] != NULL/
{
	this->args = (int)args_of[arg0] == 0 ? "" : args_of[arg0];
	printf("%-8s %s %8d %s\n", args[1]->dev_statname, args[0]->b_flags & B_READ ? "R" : "W", args[0]->b_bcount,
	    OPT_args ? this->args : "");
	args_of[arg0] = 0;
	since[arg0] = 0;
}

syscall::getppid:entry
/execname == "getppid_loop"/
{
	exit(0);
}
