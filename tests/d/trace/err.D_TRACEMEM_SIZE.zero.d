/* ASSERTION: tracemem() shows at least one byte. */
BEGIN
{
	tracemem(timestamp, 0);
}
