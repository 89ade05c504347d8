/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A dump as a source: "dump:FILE". Registers that a raw image lacks may be in FILE.regs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/backend/source.h"

#define REGISTERS ".regs"

static struct ot_err *open_dump(const struct vp_source_env *env, const char *where, struct vp_source *ret)
{
	char registers[PATH_MAX];
	struct vp_dump_opts opts = { .path = where };
	const char *base = strrchr(where, '/');
	struct vp_dump *dump;

	(void)env;
	snprintf(registers, sizeof(registers), "%s" REGISTERS, where);
	if (access(registers, R_OK) == 0)
		opts.registers = registers;
	OT_TRY(vp_dump_open(&opts, &dump));
	ret->handle = dump;
	ret->name = base ? base + 1 : where;
	ret->phys = vp_dump_phys(dump);
	ret->regs = vp_dump_regs(dump, &ret->nregs);
	return NULL;
}

static void close_dump(void *handle)
{
	vp_dump_close(handle);
}

static const char *suffices(uint32_t kind, uint32_t event)
{
	(void)kind;
	(void)event;
	return "a dump, in which nothing runs: only dtrace::: and tick probes fire";
}

const struct vp_source_ops vp_dump_source = {
	.prefix = "dump:",
	.patient = true,
	.open = open_dump,
	.close = close_dump,
	.suffices = suffices,
};
