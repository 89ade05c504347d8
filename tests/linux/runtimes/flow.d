/*
 * The flow of a thread through a program, as printed in Adam Leventhal's blog. There its clauses are ERROR's, as the probes
 * themselves had no names to show: here they are the probes', and the names are theirs.
 */
#pragma D option quiet

pid$target:::entry,
pid$target:::return
/self->level < 0 || self->level > 40/
{
	self->level = 0;
}

pid$target:::entry
{
	printf("%*s-> %s:%s\n", self->level * 2, "", probemod, probefunc);
	self->level++;
}

pid$target:::return
{
	self->level--;
	printf("%*s<- %s:%s\n", self->level * 2, "", probemod, probefunc);
}
