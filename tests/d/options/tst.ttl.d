/* ASSERTION: ttl ends a session as exit() does: END fires, aggregations are printed; the status is 0. */
/* @@stderr: dtrace: the session's time limit has passed: -x ttl=300ms */
#pragma D option quiet
#pragma D option ttl=300ms

BEGIN
{
	@["began"] = count();
}

END
{
	printf("ended\n");
}
