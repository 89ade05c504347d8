/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes on single instructions of functions. */
#include "vmm-probe/provider/fbt_offset.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/provider/boundary.h"
#include "vmm-probe/provider/text.h"

#define DIGITS_MAX 6 /* no function is larger */

/* The stored data of a probe. */
struct own {
	uint64_t offset;
};

static bool parse_offset(const char *name, uint64_t *ret)
{
	size_t n = name ? strspn(name, "0123456789abcdefABCDEF") : 0;

	if (!n || n > DIGITS_MAX || name[n])
		return false;
	*ret = strtoull(name, NULL, 16);
	return true;
}

bool vp_fbt_is_offset(const struct vp_probe *probe)
{
	return probe->args == VP_ARGS_NONE;
}

/* The reason why no instruction of the function at @p probe begins at the offset; *ret NULL: one does. */
static struct ot_err *refuse(struct vp_probes *probes, const struct vp_probe *probe, uint64_t offset,
			     const char **ret)
{
	uint64_t before, after;
	struct vp_text *text;
	const uint8_t *code;
	struct ot_buf why;

	*ret = NULL;
	OT_TRY(vp_probes_text(probes, &text));
	OT_TRY(vp_text_read(text, probe->gva, probe->size, &code));
	ot_buf_init(&why);
	if (offset >= probe->size)
		ot_buf_printf(&why, "the function has 0x%llx bytes", (unsigned long long)probe->size);
	else if (!vp_boundary_near(code, probe->size, offset, &before, &after))
		ot_buf_printf(&why, "the bytes at %llx are no known instruction", (unsigned long long)before);
	else if (after >= probe->size)
		ot_buf_printf(&why, "no instruction begins there; the last one does at %llx",
			      (unsigned long long)before);
	else if (after != offset)
		ot_buf_printf(&why, "no instruction begins there; the nearest do at %llx and %llx",
			      (unsigned long long)before, (unsigned long long)after);
	if (why.len) {
		*ret = vp_probes_strdup(probes, ot_buf_str(&why));
		if (!*ret)
			why.failed = true;
	}
	bool failed = why.failed;
	ot_buf_deinit(&why);
	return failed ? ot_err_nomem() : NULL;
}

/* A guest's fault is the probe's reason. */
static struct ot_err *refusal(struct vp_probes *probes, const struct vp_probe *probe, uint64_t offset,
			      const char **ret)
{
	struct ot_err *err = refuse(probes, probe, offset, ret);

	if (!err || (ot_err_code(err) != OT_ERR_FAULT && ot_err_code(err) != OT_ERR_UNSUPPORTED))
		return err;
	*ret = vp_probes_strdup(probes, ot_err_message(err));
	ot_err_destroy(err);
	return *ret ? NULL : ot_err_nomem();
}

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self,
			  const struct vp_probe *entry, const char *name, uint64_t offset)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	struct vp_probe probe = *entry;

	if (!own)
		return ot_err_nomem();
	own->offset = offset;
	probe.own = own;
	probe.args = VP_ARGS_NONE;
	probe.name = name;
	if (!probe.refused)
		OT_TRY(refusal(probes, entry, offset, &probe.refused));
	return vp_probes_add(probes, self, &probe);
}

static bool is_of(const struct vp_probe *probe, const struct vp_provider *self,
		  const struct dif_probedesc *desc)
{
	return !strcmp(probe->function, desc->function) && !strcmp(probe->provider, self->name) &&
	       (!desc->module || dif_glob_match(desc->module, probe->module));
}

/* Is there a probe of that name already? */
static bool is_provided(struct vp_probes *probes, const struct vp_provider *self,
			const struct dif_probedesc *desc, uint32_t count)
{
	for (uint32_t id = 1; id <= count; id++) {
		const struct vp_probe *probe = vp_probes_get(probes, id);
		if (!strcmp(probe->name, desc->name) && is_of(probe, self, desc))
			return true;
	}
	return false;
}

struct ot_err *vp_fbt_provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	uint32_t count = vp_probes_count(probes);
	uint64_t offset;

	if (!desc->function || !*desc->function || !parse_offset(desc->name, &offset) ||
	    is_provided(probes, self, desc, count))
		return NULL;
	const char *name = vp_probes_strdup(probes, desc->name);
	if (!name)
		return ot_err_nomem();
	for (uint32_t id = 1; id <= count; id++) {
		const struct vp_probe *probe = vp_probes_get(probes, id);
		if (probe->args == VP_ARGS_FBT_ENTRY && is_of(probe, self, desc))
			OT_TRY(add(probes, self, probe, name, offset));
	}
	return NULL;
}

struct ot_err *vp_fbt_offset_site(struct vp_probes *probes, const struct vp_probe *probe,
				  struct vp_batch_site **ret, uint32_t *ret_count)
{
	uint64_t offset = ((const struct own *)probe->own)->offset;
	struct vp_text *text;
	const uint8_t *code;

	OT_TRY(vp_probes_text(probes, &text));
	OT_TRY(vp_text_read(text, probe->gva, probe->size, &code));
	if (!vp_boundary_is(code, probe->size, offset))
		return ot_err_new(OT_ERR_BAD_DATA, "the function's text has changed");
	uint8_t length = vp_arch_native.code->length(code + offset, probe->size - offset);
	if (!length)
		return ot_err_new(OT_ERR_BAD_DATA, "the bytes there are no known instruction");
	struct vp_batch_site *site = calloc(1, sizeof(*site));
	if (!site)
		return ot_err_nomem();
	*site = (struct vp_batch_site){
		.gva = probe->gva + offset,
		.offset = (uint32_t)offset,
		.length = length,
		.room = length,
	};
	memcpy(site->bytes, code + offset, length);
	*ret = site;
	*ret_count = 1;
	return NULL;
}
