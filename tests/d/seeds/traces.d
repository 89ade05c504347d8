/* From where does the kernel write into its page cache? */
fbt::shmem_write_begin:entry
{
	@traces[stack()] = count();
}

tick-3s
{
	exit(0);
}
