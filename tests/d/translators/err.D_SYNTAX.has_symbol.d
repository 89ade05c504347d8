/* ASSERTION: a symbol of the kernel is written with its backquote. */
BEGIN
{
	trace(__has_symbol(jiffies));
}
