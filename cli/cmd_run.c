/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `outsight run`: boot a guest, trace it, stop it. Options before "--" are the machine's, in QEMU's spelling
 * where QEMU has one; unknown options are passed to QEMU. Options after it are dtrace's.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/near.h"
#include "cli/commands.h"
#include "cli/compiling.h"
#include "cli/run_domain.h"
#include "cli/signals.h"
#include "cli/trace.h"
#include "consumer/messages.h"
#include "vmm-probe/launch/choose.h"

static int usage(FILE *fp)
{
	fputs("Usage: outsight run [VM options] -- [dtrace options]\n"
	      "       outsight run --libvirt XML [-c URI] [-- dtrace options]\n\n"
	      "\t-kernel FILE    the guest's kernel\n"
	      "\t-initrd FILE    its initial RAM disk\n"
	      "\t-append TEXT    the kernel's command line\n"
	      "\t-m SIZE         memory in MiB, or with the suffix M or G (512)\n"
	      "\t-smp N          vCPUs (1)\n"
	      "\t-cpu MODEL      (max)\n"
	      "\t-name NAME      its name for -g and `outsight guests`\n"
	      "\t-console FILE   write its console output to FILE; - is stderr\n"
	      "\t-qemu FILE      the QEMU to use (qemu-system-x86_64)\n"
	      "\t-vmm KIND       auto: the best for this host; builtin: our own small monitor\n"
	      "\t                on KVM; qemu: QEMU's TCG (auto)\n"
	      "\tall other options are passed to QEMU\n"
	      "\t--libvirt XML   start a traceable, transient libvirt domain; without --\n"
	      "\t                it keeps running\n\n"
	      "\tTracing begins when the kernel has booted; with -A after --, as soon as\n"
	      "\tit can be traced at all, before its drivers and its other CPUs start.\n",
	      fp);
	return CON_EXIT_USAGE;
}

static const char *const machine_options[] = { "kernel", "initrd", "append",  "m",    "smp",
					       "cpu",    "name",   "console", "qemu", "vmm" };

/* MiB; 0: not a size. */
static uint32_t parse_size(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || n > 1u << 20)
		return 0;
	if (*end == 'G' || *end == 'g')
		n *= 1024;
	if (*end && (end[1] || !strchr("GgMm", *end)))
		return 0;
	return n <= 1u << 24 ? (uint32_t)n : 0;
}

static uint32_t parse_count(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return end == text || *end || n > 1024 ? 0 : (uint32_t)n;
}

static int take_vmm(enum vp_vmm *kind, const char *value)
{
	static const char *const names[] = {
		[VP_VMM_AUTO] = "auto", [VP_VMM_BUILTIN] = "builtin", [VP_VMM_QEMU] = "qemu"
	};

	for (unsigned i = 0; value && i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(value, names[i])) {
			*kind = (enum vp_vmm)i;
			return 1;
		}
	return -1;
}

/* Parse one option with its value. 1: parsed; 0: not ours; -1: invalid value. */
static int take(struct vp_launch_opts *vm, enum vp_vmm *kind, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **field;
	} texts[] = {
		{ "kernel", &vm->kernel }, { "initrd", &vm->initrd }, { "append", &vm->append },
		{ "cpu", &vm->cpu },       { "name", &vm->name },     { "console", &vm->serial },
		{ "qemu", &vm->qemu },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(texts); i++) {
		if (strcmp(name, texts[i].name) != 0)
			continue;
		*texts[i].field = value;
		return value ? 1 : -1;
	}
	if (!strcmp(name, "vmm"))
		return take_vmm(kind, value);
	if (!strcmp(name, "m"))
		return value && (vm->mem_mib = parse_size(value)) ? 1 : -1;
	if (!strcmp(name, "smp"))
		return value && (vm->smp = parse_count(value)) ? 1 : -1;
	return 0;
}

static int parse(struct vp_launch_opts *vm, enum vp_vmm *kind, int argc, char **argv, char **extra)
{
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i];
		int taken = 0;
		if (*name == '-') {
			name += name[1] == '-' ? 2 : 1;
			taken = take(vm, kind, name, i + 1 < argc ? argv[i + 1] : NULL);
		}
		if (taken < 0) {
			con_error("run: %s needs %s", argv[i],
				  !strcmp(name, "m")     ? "a size"
				  : !strcmp(name, "smp") ? "a number of vCPUs"
				  : !strcmp(name, "vmm") ? "auto, builtin or qemu"
							 : "a value");
			return CON_EXIT_USAGE;
		}
		if (taken)
			i++;
		else
			extra[vm->nextra++] = argv[i];
	}
	vm->extra = extra;
	return CLI_GO_ON;
}

static bool is_elf(const char *path)
{
	char magic[4] = "";
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) && !memcmp(magic, "\177ELF", 4);
}

struct guest {
	struct vp_launched *vm;
	bool reported; /* its failure */
};

static bool is_alive(void *arg)
{
	const struct guest *g = arg;
	struct pollfd pfd = { .fd = vp_launched_fd(g->vm), .events = POLLIN };

	return poll(&pfd, 1, 0) == 0;
}

static struct ot_err *trouble(void *arg, int wait_ms)
{
	struct guest *g = arg;
	struct ot_err *err = vp_launched_trouble(g->vm, wait_ms);

	g->reported |= err != NULL;
	return err;
}

static bool goes_on(void *arg)
{
	(void)arg;
	return !cli_signals_pending();
}

/* Unknown options were passed to QEMU, mistyped ones too. */
static int fail_launch(const struct vp_launch_opts *opts, struct ot_err *err,
		       const struct dif_options *d_opts)
{
	bool refused = strstr(ot_err_message(err), "invalid option");
	int status = con_fail(err, NULL);

	for (size_t i = 0; refused && i < opts->nextra; i++) {
		struct ot_near near;
		const char *word = opts->extra[i];
		if (*word != '-')
			continue;
		ot_near_init(&near, word + (word[1] == '-' ? 2 : 1));
		for (size_t k = 0; k < OT_ARRAY_SIZE(machine_options); k++)
			ot_near_offer(&near, machine_options[k]);
		if (ot_near_best(&near))
			con_hint(d_opts, "%s: did you mean -%s?", word, ot_near_best(&near));
	}
	return status;
}

static int boot_and_trace(struct vp_launch_opts *opts, const char *why, struct cli_invocation *inv)
{
	struct guest guest = { 0 };
	struct cli_booted booted = { .alive = is_alive, .trouble = trouble, .arg = &guest };
	struct ot_err *err;
	char line[256];

	cli_signals_hold();
	opts->go_on = goes_on;
	con_progress(NULL, "booting the guest");
	err = vp_launch(opts, &guest.vm);
	con_progress(NULL, NULL);
	if (err)
		return fail_launch(opts, err, &inv->opts);
	con_notice(&inv->opts, "guest runs under %s", why);
	booted.socket = vp_launched_socket(guest.vm);
	int status = cli_trace(inv, &booted);
	if (!guest.reported && vp_launched_panic(guest.vm, line, sizeof(line)))
		con_error("the guest's kernel says: %s", line);
	vp_launched_destroy(guest.vm);
	return status;
}

/* Checks that need no guest are first: booting takes seconds. */
static int check_and_boot(struct vp_launch_opts *vm, enum vp_vmm kind, struct cli_invocation *inv)
{
	char why[256];
	int status;

	if (inv->guests.count) {
		con_error("run: -g can't be used: the guest is the one that is booted");
		return CON_EXIT_USAGE;
	}
	if ((status = cli_check(inv)) != CLI_GO_ON)
		return status;
	struct ot_err *err = vp_launch_choose(kind, vm, why, sizeof(why));
	if (err)
		return con_fail(err, NULL);
	/* A kernel file with symbols supplies those that are not in memory. */
	if (vm->builtin && !inv->vmlinux && vm->kernel && is_elf(vm->kernel))
		inv->vmlinux = vm->kernel;
	return boot_and_trace(vm, why, inv);
}

int cli_cmd_run(int argc, char **argv)
{
	struct vp_launch_opts vm = { 0 };
	enum vp_vmm kind = VP_VMM_AUTO;
	struct cli_invocation inv;
	char **extra;
	int split = 1, status;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return CON_EXIT_OK;
	}
	if (argc > 1 && (!strcmp(argv[1], "--libvirt") || !strcmp(argv[1], "-libvirt")))
		return cli_run_domain(argc, argv);
	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (argc <= 1)
		return usage(stderr);
	if (split == argc) {
		con_error(
		    "run: the dtrace options follow a --, which is missing: outsight run %s … -- -n PROGRAM",
		    argv[1]);
		return CON_EXIT_USAGE;
	}
	extra = calloc((size_t)argc, sizeof(*extra));
	if (!extra)
		return con_fail(ot_err_nomem(), NULL);
	status = parse(&vm, &kind, split, argv, extra);
	if (status == CLI_GO_ON) {
		argv[split] = argv[0];
		status = cli_options_parse(&inv, argc - split, argv + split);
		if (status == CLI_GO_ON)
			status = check_and_boot(&vm, kind, &inv);
		cli_options_deinit(&inv);
	}
	free(extra);
	return status;
}
