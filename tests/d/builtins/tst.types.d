/* ASSERTION: The sizes of built-in variables' types, by sizeof. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", sizeof (pid), sizeof (tid), sizeof (ppid), sizeof (uid));
	printf("%d %d %d %d\n", sizeof (gid), sizeof (errno), sizeof (cpu), sizeof (ipl));
	printf("%d %d %d %d\n", sizeof (timestamp), sizeof (vtimestamp), sizeof (walltimestamp), sizeof (id));
	printf("%d %d %d %d\n", sizeof (arg0), sizeof (caller), sizeof (ucaller), sizeof (stackdepth));
	printf("%d %d %d %d\n", sizeof (ustackdepth), sizeof (execname), sizeof (probename), sizeof (epid));
	printf("%d %d\n", sizeof (curthread), sizeof (uregs[0]));
	exit(0);
}
