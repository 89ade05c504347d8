/* ASSERTION: without a number it is a provider as any other. */
pidgin:::entry
{
}
