/*
 * ASSERTION: panic() is refused before anything is traced.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: clause 1: panic() cannot act on a guest from outside
 */
#pragma D option destructive

BEGIN
{
	panic();
}
