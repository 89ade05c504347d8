/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes fuzz_contained's seeds: what honest readers of a small guest answer, made from the answers' own
 * structs whenever this is built.
 *
 *   contained_seeds DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/contained_internal.h"

#define BASE 0xffffffff92000000ull

static void check(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "contained_seeds: %s\n", ot_err_message(err));
	exit(1);
}

static void write_seed(const char *directory, const char *name, char kind, const struct ot_buf *answer)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");
	if (!out || fputc(kind, out) == EOF || fwrite(answer->data, answer->len, 1, out) != 1 ||
	    fclose(out)) {
		perror(path);
		exit(1);
	}
}

static void add_symbols(struct vp_symtab *symtab, uint16_t module, uint64_t at)
{
	static const char *const names[] = { "_text", "a_function", "another", "data" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		check(vp_symtab_add(symtab, at + 64 * i, i == 3 ? 'd' : 'T', module, module && i == 3,
				    names[i], strlen(names[i])));
}

static void write_core(const char *directory)
{
	static uint8_t types[64], addresses[16], rules[24];
	struct vp_guest guest = { .btf_data = types, .btf_size = sizeof(types) };
	struct vp_kernel *k = &guest.kernel;
	struct ot_buf answer;

	k->base = vp_gva(BASE);
	k->size = 4u << 20;
	vp_mmu_init(&k->mmu, vp_arch_native.paging, vp_gpa(0x10000), vp_arch_native.levels[0]);
	strcpy(k->banner, "Linux version 6.9.0-test (someone@somewhere) #1 SMP");
	strcpy(k->release, "6.9.0-test");
	k->build_id_len = 20;
	guest.orc = (struct vp_orc_raw){ addresses, sizeof(addresses), vp_gva(BASE + 0x100000), rules,
					 sizeof(rules) };
	check(vp_symtab_create(&guest.symtab));
	add_symbols(guest.symtab, VP_SYMTAB_VMLINUX, BASE);
	ot_buf_init(&guest.note);
	ot_buf_puts(&guest.note, "no modules: there are none\n");
	ot_buf_init(&answer);
	vp_answer_put_core(&guest, &answer);
	write_seed(directory, "core", 0, &answer);
	ot_buf_deinit(&answer);
	ot_buf_deinit(&guest.note);
	vp_symtab_destroy(guest.symtab);
}

static void write_modules(const char *directory)
{
	struct vp_module list[2] = { 0 };
	struct vp_arrivals found = { .list = { .list = list, .count = 2 } };
	struct ot_buf answer;

	check(vp_symtab_create(&found.symbols));
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = BASE + 0x10000000 + i * 0x10000;
		uint16_t number;

		snprintf(list[i].name, sizeof(list[i].name), "module%u", (unsigned)i);
		list[i].addr = vp_gva(at);
		list[i].live = list[i].formed = true;
		list[i].ranges[0] = (struct vp_module_range){ at, at + 0x8000 };
		list[i].nranges = 1;
		list[i].btf_size = 64;
		check(vp_symtab_add_module(found.symbols, list[i].name, &number));
		add_symbols(found.symbols, number, at);
	}
	ot_buf_init(&answer);
	vp_answer_put_modules(&found, &answer);
	write_seed(directory, "modules", 1, &answer);
	ot_buf_deinit(&answer);
	vp_symtab_destroy(found.symbols);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: contained_seeds DIRECTORY\n");
		return 2;
	}
	write_core(argv[1]);
	write_modules(argv[1]);
	return 0;
}
