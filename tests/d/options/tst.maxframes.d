/*
 * ASSERTION: maxframes bounds the frames of a stack() that asks for more: its record of 8,000 bytes would not
 * fit into the buffer.
 */
#pragma D option quiet
#pragma D option bufsize=1k
#pragma D option maxframes=4

BEGIN
{
	printf("bounded\n");
	exit(0);
}

tick-1hour
{
	stack(1000);
}
