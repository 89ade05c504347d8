/* ASSERTION: Without a target process %A takes no plain address. */
BEGIN
{
	printf("%A", 1);
}
