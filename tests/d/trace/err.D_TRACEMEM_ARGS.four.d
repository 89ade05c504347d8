/* ASSERTION: tracemem() takes three arguments. */
BEGIN
{
	tracemem(timestamp, 1, 1, 1);
}
