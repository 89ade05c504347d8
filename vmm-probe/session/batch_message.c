/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A feed's batch as buffers, and as the message that ENABLE carries. */
#include <string.h>

#include "vmm-probe/session/agent.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"

struct ot_err *vp_batch_buffers_check(const struct vp_feed *feed)
{
	if (feed->batch_probes.failed || feed->batch_sites.failed || feed->batch_ecbs.failed ||
	    feed->batch_strings.failed || feed->batch_agent.failed)
		return ot_err_nomem();
	return NULL;
}

void vp_batch_keep_agents(struct vp_feed *feed, const struct vp_feed *late)
{
	const struct vp_batch_probe *list = (const void *)late->batch_probes.data;

	for (size_t i = 0; i < late->batch_probes.len / sizeof(*list); i++)
		if (list[i].kind == VP_PROBE_AGENT)
			ot_buf_append(&feed->batch_probes, &list[i], sizeof(list[i]));
}

void vp_batch_clear(struct vp_feed *feed)
{
	ot_buf_deinit(&feed->batch_probes);
	ot_buf_deinit(&feed->batch_sites);
	ot_buf_deinit(&feed->batch_ecbs);
	ot_buf_deinit(&feed->batch_strings);
	ot_buf_deinit(&feed->batch_agent);
	vp_batch_programs_clear(&feed->batch_programs);
}

/* The arrays one after another, each aligned to 8. */
struct ot_err *vp_batch_assemble(struct vp_feed *feed, struct ot_buf *out)
{
	struct vp_batch batch = {
		.nprobes = (uint32_t)(feed->batch_probes.len / sizeof(struct vp_batch_probe)),
		.nsites = (uint32_t)(feed->batch_sites.len / sizeof(struct vp_batch_site)),
		.necbs = (uint32_t)(feed->batch_ecbs.len / sizeof(struct vp_batch_ecb)),
		.strings_size = (uint32_t)feed->batch_strings.len,
		.nagents = (uint32_t)(feed->batch_agent.len / sizeof(struct vp_batch_agent)),
		.dof_size = (uint32_t)feed->batch_programs.dof.len,
	};
	struct ot_buf *parts[] = { &feed->batch_probes,  &feed->batch_sites, &feed->batch_ecbs,
				   &feed->batch_strings, &feed->batch_agent, &feed->batch_programs.dof };
	uint32_t *offsets[] = { &batch.probes_offset,  &batch.sites_offset, &batch.ecbs_offset,
				&batch.strings_offset, &batch.agent_offset, &batch.dof_offset };

	ot_buf_append(out, &batch, sizeof(batch));
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++) {
		ot_buf_align(out, 8);
		*offsets[i] = (uint32_t)out->len;
		ot_buf_append(out, ot_buf_str(parts[i]), parts[i]->len);
		if (parts[i]->failed)
			return ot_err_nomem();
	}
	if (out->failed)
		return ot_err_nomem();
	if (out->len > UINT32_MAX)
		return ot_err_new(OT_ERR_LIMIT, "too many probes for one session");
	batch.size = (uint32_t)out->len;
	memcpy(out->data, &batch, sizeof(batch));
	return NULL;
}
