/*
 * ASSERTION: process 0 cannot be traced.
 * @@stderr: dtrace: failed to compile script err.D_PROC_BADPID.zero.d: [D_PROC_BADPID] line 5: pid0 contains an invalid pid
 */
pid0:::entry
{
}
