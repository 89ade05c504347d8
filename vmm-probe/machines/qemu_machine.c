/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing the machine on QEMU's command line, and its RAM layout, which the plugin API does not provide. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/io.h"
#include "vmm-probe/machines/qemu_machine.h"

#define CMDLINE_MAX (4u << 20)

/* The next "key=value" or "value" of a comma-separated option; ",," is a comma. */
static bool next_item(const char **p, char *buf, size_t size)
{
	size_t n = 0;

	if (!**p)
		return false;
	for (; **p; (*p)++) {
		if (**p == ',') {
			if ((*p)[1] != ',')
				break;
			(*p)++;
		}
		if (n + 1 < size)
			buf[n++] = **p;
	}
	buf[n] = '\0';
	if (**p == ',')
		(*p)++;
	return true;
}

static void copy(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

/* QEMU's sizes: "2G", "512M", "1073741824" (bytes). */
static uint64_t parse_size(const char *s)
{
	char *end;
	uint64_t value = strtoull(s, &end, 0);

	switch (*end) {
	case 'K':
	case 'k':
		return value << 10;
	case 'M':
	case 'm':
		return value << 20;
	case 'G':
	case 'g':
		return value << 30;
	default:
		return value;
	}
}

static void parse_machine(const char *value, struct vp_qemu_machine *ret)
{
	char item[256];
	bool first = true;

	for (; next_item(&value, item, sizeof(item)); first = false) {
		if (first && !strchr(item, '='))
			copy(ret->type, sizeof(ret->type), item);
		else if (strncmp(item, "type=", 5) == 0)
			copy(ret->type, sizeof(ret->type), item + 5);
		else if (strncmp(item, "max-ram-below-4g=", 17) == 0)
			ret->max_below_4g = parse_size(item + 17);
	}
}

static void parse_name(const char *value, struct vp_qemu_machine *ret)
{
	char item[256];
	bool first = true;

	for (; next_item(&value, item, sizeof(item)); first = false) {
		if (strncmp(item, "guest=", 6) == 0)
			copy(ret->name, sizeof(ret->name), item + 6);
		else if (first && !strchr(item, '='))
			copy(ret->name, sizeof(ret->name), item);
	}
}

/* QEMU's objects for AMD SEV and SEV-SNP and for Intel TDX, anywhere on the command line. */
static bool is_confidential(const char *cmdline, size_t len)
{
	static const char *const objects[] = { "sev-guest", "sev-snp-guest", "tdx-guest" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(objects); i++)
		if (memmem(cmdline, len, objects[i], strlen(objects[i])))
			return true;
	return false;
}

/* Is it an option that gives the machine memory from a backend besides the machine's own? */
static bool brings_memory(const char *option, const char *value)
{
	static const char *const devices[] = { "pc-dimm", "nvdimm", "virtio-mem", "virtio-pmem" };

	if (!strcmp(option, "numa"))
		return strstr(value, "memdev=") != NULL;
	for (size_t i = 0; !strcmp(option, "device") && i < OT_ARRAY_SIZE(devices); i++)
		if (strstr(value, devices[i]))
			return true;
	return false;
}

/* Options whose value may begin with "-". Which of the others have a value is not known here. */
static bool has_value(const char *option)
{
	static const char *const names[] = { "accel",  "append", "chardev", "machine", "M",   "name",
					     "plugin", "serial", "smp",     "socket",  "uuid" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(option, names[i]))
			return true;
	return false;
}

bool vp_qemu_next_option(const char **p, const char *end, const char **ret_option, const char **ret_value)
{
	while (*p < end) {
		const char *option = *p;
		*p += strlen(*p) + 1;
		if (*option != '-')
			continue;
		*ret_option = option + (option[1] == '-' ? 2 : 1);
		*ret_value = *p < end ? *p : NULL;
		if (*ret_value && has_value(*ret_option))
			*p += strlen(*p) + 1;
		return true;
	}
	return false;
}

void vp_qemu_machine_parse(const char *cmdline, size_t len, struct vp_qemu_machine *ret)
{
	const char *option, *value;

	memset(ret, 0, sizeof(*ret));
	copy(ret->type, sizeof(ret->type), "pc");
	ret->confidential = is_confidential(cmdline, len);
	for (const char *p = cmdline; vp_qemu_next_option(&p, cmdline + len, &option, &value);) {
		if (!value)
			continue;
		if (strcmp(option, "machine") == 0 || strcmp(option, "M") == 0)
			parse_machine(value, ret);
		else if (strcmp(option, "name") == 0)
			parse_name(value, ret);
		ret->several_memories |= brings_memory(option, value);
	}
}

void vp_qemu_machine_read(struct vp_qemu_machine *ret)
{
	char *text = NULL;
	size_t len = 0;
	struct ot_err *err = ot_read_file("/proc/self/cmdline", CMDLINE_MAX, &text, &len);

	/* If it can't be read, QEMU's default machine is assumed; vp_tcg_ram_check() detects a wrong one. */
	ot_err_destroy(err);
	vp_qemu_machine_parse(err ? "" : text, err ? 0 : len, ret);
	free(text);
}

uint64_t vp_qemu_ram_low(const struct vp_qemu_machine *machine, uint64_t size)
{
	uint64_t low;

	if (strstr(machine->type, "q35")) {
		/* hw/i386/pc_q35.c: with 2.75 GiB or more, the split is at 2 GiB. */
		low = size >= 0xb0000000ull ? 0x80000000ull : 0xb0000000ull;
		if (machine->max_below_4g && machine->max_below_4g < low)
			low = machine->max_below_4g;
	} else if (strcmp(machine->type, "microvm") == 0) {
		low = 0xc0000000ull;
	} else {
		/* hw/i386/pc_piix.c: with 3.5 GiB or more, the split is at 3 GiB. */
		low = machine->max_below_4g ? machine->max_below_4g : 0xe0000000ull;
		if (size >= low && low > 0xc0000000ull)
			low = 0xc0000000ull;
	}
	return size < low ? size : low;
}
