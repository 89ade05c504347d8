#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rwtop: bytes that programs read and write, by process
 *
 * Use:
 *   outsight tool rwtop [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *       PID PROGRAM          CALL                      BYTES
 *         1 init             write                         7
 *         1 init             read                         14
 *       224 reads            write                     65797
 *       224 reads            read                    4187778
 *
 * Caveats:
 *   Files, pipes, sockets and terminals together; see filetop for files, tcptop for connections.
 *   sendfile, splice and mapped files are not counted. The 20 largest are printed.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

syscall::read:return, syscall::write:return, syscall::pread64:return, syscall::pwrite64:return,
syscall::readv:return, syscall::writev:return, syscall::preadv:return, syscall::pwritev:return,
syscall::preadv2:return, syscall::pwritev2:return, syscall::sendto:return, syscall::recvfrom:return,
syscall::sendmsg:return, syscall::recvmsg:return
/!errno && arg1 > 0/
{
	@bytes[pid, execname, probefunc] = sum(arg1);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%7s %-16s %-16s %14s\n", "PID", "PROGRAM", "CALL", "BYTES");
	trunc(@bytes, 20);
	printa("%7d %-16s %-16s %@14d\n", @bytes);
	trunc(@bytes);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printf("%7s %-16s %-16s %14s\n", "PID", "PROGRAM", "CALL", "BYTES");
	printa("%7d %-16s %-16s %@14d\n", @bytes);
}
