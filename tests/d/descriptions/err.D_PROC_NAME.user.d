/* ASSERTION: user's names are those of the pid provider. */
user:libc.so.6:malloc:beginning
{
}
