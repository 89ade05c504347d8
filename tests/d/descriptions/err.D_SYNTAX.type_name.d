/* ASSERTION: a word that names a type begins a declaration. */
id_t
{
	exit(0);
}
