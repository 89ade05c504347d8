/* ASSERTION: any provider may end with a process's number; that process may have none of that name. */
acme$pid:::start
{
}
