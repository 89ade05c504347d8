/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that begin, programs that are started, and processes that end. */
proc:::create
{
	@forks[guest] = count();
}

proc:::exec-success
{
	@execs[guest] = count();
}

proc:::exit
{
	@exits[guest] = count();
}
