/* ASSERTION: tracemem() needs a size. */
BEGIN
{
	tracemem(timestamp);
}
