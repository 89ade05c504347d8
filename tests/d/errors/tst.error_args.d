/*
 * ASSERTION: ERROR's arguments are the clause, the action (0: its predicate), the offset of the instruction, the fault
 * and the address.
 */
#pragma D option quiet

ERROR { printf("%d %d %d %d %x\n", arg1, arg2, arg3, arg4, arg5); }
BEGIN { x = (int *)0x4000; y = *x; }
BEGIN { a = 1; b = 2; b = a / (b - 2); }
BEGIN { a = 1; c = a % (a - 1); }
BEGIN { *(int *)8 = 1; }
BEGIN { this->p = (char *)alloca(8); this->q = (int *)(this->p + 1); *this->q = 1; }
BEGIN { alloca(1 << 30); }
BEGIN { lltostr(1, 99); }
BEGIN { copyinstr(1); }
BEGIN / *(int *)16 / { n++; }
BEGIN { printf("%s", (string)0); }
BEGIN { @n[*(int *)24] = count(); }
BEGIN { exit(0); }
