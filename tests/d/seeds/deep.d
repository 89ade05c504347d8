/*
 * Calls within calls, each indented by its level. A function that ends with a jump into another one never
 * returns, so the levels of a busy thread creep up; those above 40 are shown, the first hundred of them.
 */
#pragma D option quiet

int shown;

fbt:::entry
/execname == "deepcall"/
{
	self->level++;
}

fbt:::entry
/self->level > 40/
{
	printf("%*s-> %s:%s\n", self->level, " ", probemod, probefunc);
	shown++;
}

fbt:::entry
/shown == 100/
{
	exit(0);
}

fbt:::return
/self->level > 0/
{
	self->level--;
}

syscall::exit_group:entry
/execname == "deepcall"/
{
	exit(0);
}
