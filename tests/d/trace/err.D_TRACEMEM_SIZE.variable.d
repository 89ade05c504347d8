/* ASSERTION: The second argument of tracemem() is a constant. */
BEGIN
{
	tracemem(timestamp, timestamp);
}
