/* ASSERTION: A subroutine that reads a kernel's structures faults with their address where there is no kernel. */
#pragma D option quiet

BEGIN { mutex_owned((void *)16); }
BEGIN { mutex_owner((void *)17); }
BEGIN { mutex_type_adaptive((void *)18); }
BEGIN { mutex_type_spin((void *)19); }
BEGIN { rw_read_held((void *)20); }
BEGIN { rw_write_held((void *)21); }
BEGIN { rw_iswriter((void *)22); }
BEGIN { sx_shared_held((void *)23); }
BEGIN { sx_exclusive_held((void *)24); }
BEGIN { sx_isexclusive((void *)25); }
BEGIN { msgsize((void *)26); }
BEGIN { msgdsize((void *)27); }
BEGIN { ddi_pathname((void *)28, 1); }
BEGIN { d_path((void *)29); }
BEGIN { getf(30); }

ERROR
{
	printf("%d %d\n", arg4 == DTRACEFLT_BADADDR, arg5 >= 16);
}

BEGIN
{
	printf("%d %d\n", msgsize(NULL), msgdsize(NULL));
	exit(0);
}
