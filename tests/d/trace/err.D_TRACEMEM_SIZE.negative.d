/* ASSERTION: tracemem() takes no negative size. */
BEGIN
{
	tracemem(timestamp, -4);
}
