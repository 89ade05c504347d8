/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --help, the synopsis, the version. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

void cli_synopsis(FILE *fp)
{
	static const char rest[] = "[[ predicate ] action ]";

	fprintf(
	    fp,
	    "Usage: outsight [-g guest] [-32|-64] [-aACeFGhHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]]\n"
	    "\t[-I path] [-L path] [-o output] [-p pid] [-s script] [-U name]\n"
	    "\t[-W name] [-x opt[=val]] [-X a|c|s|t]\n\n"
	    "\t[-P provider %s]\n"
	    "\t[-m [ provider: ] module %s]\n"
	    "\t[-f [[ provider: ] module: ] func %s]\n"
	    "\t[-n [[[ provider: ] module: ] func: ] name %s]\n"
	    "\t[-i probe-id %s] [ args ... ]\n\n"
	    "       outsight run [VM options] -- [the same]\n"
	    "       outsight run --libvirt XML [-c URI] [-- the same]\n"
	    "       outsight compare [--json] [--watch] [--inside FILE]\n"
	    "                        [--tasks | --modules | --sockets | --mounts | --libraries PID | the "
	    "same]\n"
	    "       outsight tool --list | [--show] NAME [--help | the same]\n"
	    "       outsight flame [-g GUEST]... [-d SECONDS] [-F HZ | -e PROBE] [-p PID] -o FILE\n"
	    "       outsight heatmap [-g GUEST]... [-d SECONDS] [-i MS] [-e FUNCTION | -n PROGRAM] [-p PID] "
	    "-o FILE\n"
	    "       outsight top [-b] [-d SECONDS] [-g PATTERN]... [-n TIMES] [-o COLUMN] [-x]\n"
	    "       outsight guests [-c URI] [--json | --xml DOMAIN]\n"
	    "       outsight attach [--plan] GUEST...\n"
	    "       outsight detach GUEST... | --all\n"
	    "       outsight doctor [-v]\n"
	    "       outsight examples [WORD...]\n"
	    "       outsight serve [options of outsight-serve]\n"
	    "       outsight help [VERB]\n\n"
	    "\tpredicate -> '/' D-expression '/'\n"
	    "\t   action -> '{' D-statements '}'\n\n",
	    rest, rest, rest, rest, rest);
}

static void print_switches(void)
{
	fputs("\t-32 32-bit programs: refused, guests are 64-bit\n"
	      "\t-64 64-bit programs\n"
	      "\t-a  claim anonymous tracing state: there is none\n"
	      "\t-A  trace a guest from its boot (outsight run)\n"
	      "\t-b  size of a trace buffer\n"
	      "\t-c  run a command on this host, and end when it ends (-g none)\n"
	      "\t-C  run cpp(1) on script files\n"
	      "\t-D  define a symbol for cpp\n"
	      "\t-e  compile, then exit\n"
	      "\t-f  enable or list probes by function\n"
	      "\t-F  indent the output by function calls\n"
	      "\t-g  the guest: a name or pattern, all, a PID, a control socket, peek:GUEST, gdb:HOST:PORT, "
	      "dump:FILE\n"
	      "\t    or \"none\"; may be repeated\n"
	      "\t-G  make an object file of providers: refused\n"
	      "\t-h  make a C header of the providers that a script declares\n"
	      "\t-H  show the files that cpp includes\n"
	      "\t-i  enable or list a probe by its number\n"
	      "\t-I  another directory for cpp's #include\n"
	      "\t-l  list probes\n"
	      "\t-L  another directory of D libraries\n"
	      "\t-m  enable or list probes by module\n"
	      "\t-n  enable or list probes by name\n"
	      "\t-o  append the output to a file; FILE.prom: aggregations as Prometheus' text,\n"
	      "\t    FILE.pprof: stacks as a profile, FILE.pftrace: a trace for Perfetto\n"
	      "\t-p  $target: a process of the guest, or with -g none of this host; tracing ends with it\n"
	      "\t-P  enable or list probes by provider\n"
	      "\t-q  quiet: print only the program's own output\n"
	      "\t-s  run a D script, or list its probes\n"
	      "\t-S  print the compiled objects\n"
	      "\t-U  undefine a symbol for cpp\n"
	      "\t-v  verbose: more about probes (-l) and programs\n"
	      "\t-V  print the version of D\n"
	      "\t-w  allow destructive actions\n"
	      "\t-W  $target: wait for a process of this name in the guest (-x waitfor=NAME)\n"
	      "\t-x  set an option\n"
	      "\t-X  the C dialect for cpp: a, c, s or t\n"
	      "\t-Z  allow descriptions that match no probe\n"
	      "\t--json            print one JSON object a line (-x oformat=jsonl)\n"
	      "\t--libxo FORMAT    print a document: json, xml; json,pretty, xml,pretty\n"
	      "\t--vmlinux FILE    symbols, types and debugging information from this ELF file\n"
	      "\t--symbols FILE    symbols from this file (as /proc/kallsyms)\n"
	      "\t--sysroot DIR     symbols of programs from the files below this directory\n"
	      "\t--no-cache        parse the file of --vmlinux again, even if the result is cached\n"
	      "\t--dump-symbols    print the guest's symbols\n"
	      "\t--dump-maps PID   print the mappings of a process of the guest (as /proc/PID/maps)\n"
	      "\t--save-dof FILE   with -e: save the compiled program\n"
	      "\t--dof FILE        run a program saved by --save-dof\n"
	      "\t--plan            print the addresses of the program's traps, and trace nothing\n"
	      "\t--help, --version\n",
	      stdout);
}

/* Every option of -x, in lines of a terminal's width. */
static void print_options(void)
{
	const char *name;
	int column = 0;

	fputs("\nOptions of -x, #pragma D option and DTRACE_OPT_*:\n", stdout);
	for (size_t i = 0; (name = dif_options_name(i)); i++) {
		int width = (int)strlen(name) + 1;
		if (column + width > 78) {
			putchar('\n');
			column = 0;
		}
		column += printf("%s%s", column ? " " : "  ", name);
	}
	putchar('\n');
}

void cli_help(void)
{
	cli_synopsis(stdout);
	print_switches();
	print_options();
	fputs("\nExamples:\n"
	      "  outsight -n 'syscall:::entry { @[execname, probefunc] = count(); }'\n"
	      "  outsight -g web01 -l -P fbt\n"
	      "  outsight run -kernel bzImage -initrd initrd.img -- -n 'profile-997 { @[stack()] = count(); "
	      "}'\n"
	      "\nThe manual is outsight(1).\n",
	      stdout);
}

void cli_version(void)
{
	puts("outsight " OUTSIGHT_VERSION);
}
