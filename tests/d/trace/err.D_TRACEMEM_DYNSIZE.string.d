/* ASSERTION: The size that tracemem() shows is a number. */
BEGIN
{
	tracemem(timestamp, 1, "1");
}
