/* ASSERTION: tracemem() does not take a string for an address. */
BEGIN
{
	tracemem("text", 4);
}
