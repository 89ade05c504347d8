/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Untrusted BTF: refused, or every getter works on every type in it. */
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/btf_types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct vp_types *types, const struct vp_btf *btf, uint32_t id)
{
	static const char *const paths[] = { "a", "a.b", "next", "deep.sum", "v" };
	struct dif_type *type = vp_types_get(types, btf, id);
	struct vp_btf_field field;
	uint64_t bytes;

	vp_btf_size(btf, vp_btf_resolve(btf, id), &bytes);
	for (size_t i = 0; i < OT_ARRAY_SIZE(paths); i++)
		vp_btf_field(btf, id, paths[i], &field);
	if (type && !type->complete)
		ot_err_destroy(type->source->complete(type->source, type));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vp_btf *btf = NULL;
	struct vp_types *types = NULL;
	struct dif_type *type;
	uint32_t offset, bits;
	int64_t value;
	struct ot_err *err = vp_btf_create(data, size, NULL, &btf);

	if (!err)
		err = vp_types_create(&types);
	if (!err)
		err = vp_types_add_kernel(types, btf);
	for (uint32_t id = 0; !err && id <= vp_btf_end(btf); id++)
		ask(types, btf, id);
	if (!err) {
		vp_btf_member_offset(btf, "node", "next.next.next.v", &offset, &bits);
		vp_types_find(types, NULL, DIF_C_STRUCT, "node");
		vp_types_enumerator(types, "ON", &type, &value);
		vp_types_symbol(types, NULL, "walk", true);
	}
	ot_err_destroy(err);
	vp_types_destroy(types);
	vp_btf_destroy(btf);
	return 0;
}
