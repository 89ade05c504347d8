/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counterparts of names from elsewhere. Sources: the manuals of bpftrace and SystemTap, the C library's,
 * and the DTrace manuals of macOS, FreeBSD and Oracle.
 */
#include "dif/lang/types/elsewhere.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

struct name {
	const char *there, *here;
};

#define PROCESS_NAME "the name of the process is execname"
#define TIME         "timestamp counts nanoseconds"
#define DATE         "a date is printed by %Y: printf(\"%Y\", walltimestamp)"
#define ELEMENT      "0 removes an element: x[key] = 0; clear( ) and trunc( ) are for aggregations"
#define USER_STRING  "copyinstr( ) reads a string of the process, stringof( ) one of the kernel"
#define USER_NUMBER  "a number of the process is read by a cast: *(int *)copyin(address, sizeof(int))"
#define NUMBER       "a number of the kernel is read by a cast: *(int *)address"
#define COMPARED     "strings are compared by ==, != and <; substr( ) has a part of one"
#define JOINED       "strings are joined by strjoin( ), and lltostr( ) makes one of a number"
#define ARGUMENTS    "the words of the process's command line are curpsinfo->pr_psargs"

static const struct name variables[] = {
	{ "comm", PROCESS_NAME },
	{ "nsecs", TIME },
	{ "machtimestamp", TIME },
	{ "elapsed", TIME ": take that of BEGIN from it" },
	{ "kstack", "the kernel's stack is stack( )" },
	{ "retval", "the value that a function returns is arg1 of its return probe" },
	{ "curtask", "the task is curthread" },
	{ "cpid", "the process of -c, -p or -W is $target" },
	{ "username", "the number of the user is uid" },
	{ "argv", ARGUMENTS },
};

static const struct name functions[] = {
	/* bpftrace */
	{ "hist", "quantize( ) counts by powers of two" },
	{ "lhist", "lquantize( ) counts by equal steps" },
	{ "stats", "count( ), sum( ) and avg( ) fill an aggregation each" },
	{ "str", USER_STRING },
	{ "kstr", "stringof( ) reads a string of the kernel" },
	{ "buf", "tracemem( ) prints bytes" },
	{ "delete", ELEMENT },
	{ "zero", "clear( ) sets the values of an aggregation to zero" },
	{ "time", DATE },
	{ "strftime", DATE },
	{ "nsecs", TIME },
	{ "kstack", "the kernel's stack is stack( )" },
	{ "kaddr", "the address of a symbol of the kernel is &`name" },
	{ "ksym", "sym( ) names an address of the kernel" },
	{ "reg", "registers are regs[ ] and uregs[ ]: uregs[R_RDI]" },
	{ "ntop", "inet_ntop( ) shows an address" },
	{ "join", ARGUMENTS },
	{ "cat", "system(\"cat FILE\") prints a file of this host, with -w" },
	{ "signal", "raise( ) sends a signal" },
	{ "unroll", "D has no loops: write out what is repeated" },
	/* SystemTap */
	{ "println", "printf( ) prints, with \\n for the end of a line" },
	{ "log", "printf( ) prints" },
	{ "warn", "printf( ) prints" },
	{ "user_string", USER_STRING },
	{ "user_string_n", USER_STRING },
	{ "kernel_string", "stringof( ) reads a string of the kernel" },
	{ "user_int", USER_NUMBER },
	{ "user_long", USER_NUMBER },
	{ "kernel_int", NUMBER },
	{ "kernel_long", NUMBER },
	{ "kernel_pointer", NUMBER },
	{ "print_backtrace", "stack( ) prints the kernel's stack" },
	{ "print_ubacktrace", "ustack( ) prints the process's stack" },
	{ "ppfunc", "the probe's function is probefunc" },
	{ "pp", "the probe's names are probeprov, probemod, probefunc and probename" },
	{ "thread_indent", "-F indents by calls and returns" },
	{ "task_current", "the task is curthread" },
	{ "gettimeofday_s", "walltimestamp is the time since 1970, in nanoseconds" },
	{ "gettimeofday_ms", "walltimestamp is the time since 1970, in nanoseconds" },
	{ "gettimeofday_us", "walltimestamp is the time since 1970, in nanoseconds" },
	{ "gettimeofday_ns", "walltimestamp is the time since 1970, in nanoseconds" },
	{ "get_cycles", TIME },
	{ "ctime", DATE },
	/* C */
	{ "strcmp", COMPARED },
	{ "strncmp", COMPARED },
	{ "memcmp", COMPARED },
	{ "strcat", JOINED },
	{ "sprintf", JOINED },
	{ "snprintf", JOINED },
	{ "strcpy", "a string is assigned: x = \"text\"" },
	{ "memcpy", "bcopy( ) copies bytes into memory of alloca( )" },
	{ "malloc", "alloca( ) has memory for the rest of the clause" },
	{ "atoi", "strtoll( ) reads a number" },
	{ "puts", "printf( ) prints, with \\n for the end of a line" },
	{ "usleep", "chill( ) waits, and -w allows it" },
	/* other DTraces */
	{ "printt", "print( ) prints a value with its members: print(*p)" },
	{ "mtons", "timestamp counts nanoseconds already" },
	{ "pcap", "tracemem( ) prints the bytes of a packet" },
};

static const char *find(const struct name *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i].there, name))
			return names[i].here;
	return NULL;
}

const char *dif_name_elsewhere(const char *name, bool is_function)
{
	return is_function ? find(functions, OT_ARRAY_SIZE(functions), name)
			   : find(variables, OT_ARRAY_SIZE(variables), name);
}
