/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a guest's kernel gets the memory of resident probes mapped. One page of the kernel's page table has the
 * entries for the GiB of its image, 2 MiB each; all processes share it (arch/x86/kernel/head_64.S:
 * level2_kernel_pgt). When the kernel boots it clears those that its image does not take (cleanup_highmap(),
 * arch/x86/mm/init_64.c), and it has no allocator for them. An entry that was never present is in no TLB, so
 * one store maps 2 MiB, and a page walk sees it whole or not at all.
 */
#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/kvm/internal.h"

#define ENTRIES 512u
#define GIB     (ENTRIES * VP_KVM_LARGE_PAGE)
/* Entries that must be empty between the image and ours, and behind ours. */
#define GAP     8u
/* The image has half a GiB where the kernel was built without KASLR: modules begin behind it. */
#define HALF    256u

/* Set beforehand, so that the processor does not write them (Intel SDM, vol. 3, 4.5: IA-32e paging). */
#define ACCESSED (1ull << 5)
#define DIRTY    (1ull << 6)

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

static uint64_t *entries_at(const struct vp_ram_range *ram, uint32_t nram, uint64_t gpa, uint64_t n)
{
	uint64_t len, *at = vp_ram_at(ram, nram, gpa, &len);

	return at && len >= n * sizeof(*at) ? at : NULL;
}

/* The page of entries for the GiB with @gva. */
static struct ot_err *find_table(const struct vp_kvm *kvm, const struct vp_resident_kernel *k, uint64_t gva,
				 uint64_t *ret_gpa, uint64_t **ret)
{
	const struct vp_paging *p = &vp_native_paging;
	const struct vp_ram_range *ram = kvm->ram;
	const uint32_t nram = kvm->config.nram;
	uint64_t table = k->root & p->address, entry;
	unsigned shift = p->page_shift + p->index_bits * k->levels;

	for (unsigned level = k->levels; level > 2; level--) {
		shift -= p->index_bits;
		const uint64_t *at = entries_at(ram, nram, table + 8 * (gva >> shift & (ENTRIES - 1)), 1);
		if (!at || !ot_guarded_load64(at, &entry) || !(entry & p->present) || entry & p->large)
			return REFUSED("the page table of its image is not as expected");
		table = entry & p->address;
	}
	*ret_gpa = table;
	*ret = entries_at(ram, nram, table, ENTRIES);
	return *ret ? NULL : REFUSED("the page table of its image is not in RAM");
}

/* The first of @n entries that can be ours. */
static struct ot_err *find_empty(uint64_t *table, uint64_t image_end, uint32_t n, uint32_t *ret)
{
	uint32_t behind = (uint32_t)((image_end - 1) / VP_KVM_LARGE_PAGE % ENTRIES) + 1, first = behind + GAP;
	uint32_t end = behind < HALF ? HALF : ENTRIES;
	uint64_t entry;

	if (first + n + GAP > end)
		return ot_err_new(OT_ERR_LIMIT, "there are not %u empty entries behind its image",
				  n + 2 * GAP);
	for (uint32_t i = behind; i < first + n + GAP; i++)
		if (!ot_guarded_load64(&table[i], &entry) || entry)
			return REFUSED("the page table behind its image is in use");
	*ret = first;
	return NULL;
}

/* What entry @i of ours holds: code is not writable, data is not executable. No cache bits: both are RAM. */
static uint64_t our_entry(const struct vp_kvm_resident *r, uint32_t i)
{
	const struct vp_paging *p = &vp_native_paging;
	uint64_t how = i < r->room.code_size / VP_KVM_LARGE_PAGE ? 0 : p->writable | p->no_execute;

	return (r->gpa + i * VP_KVM_LARGE_PAGE) | p->present | ACCESSED | DIRTY | p->large | how;
}

static uint32_t entries_of(const struct vp_kvm_resident *r)
{
	return (uint32_t)((r->room.code_size + r->data_size) / VP_KVM_LARGE_PAGE);
}

/* Are our entries in this table, where they were put last? A kernel that boots again in the same place has
 * the same root, and they are empty there. */
static bool is_mapped(const uint64_t *table, uint64_t gib, const struct vp_kvm_resident *r, uint32_t n)
{
	uint64_t first = (r->room.code_gva - gib) / VP_KVM_LARGE_PAGE, entry;

	if (r->room.code_gva < gib || first + n > ENTRIES)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!ot_guarded_load64(&table[first + i], &entry) || entry != our_entry(r, i))
			return false;
	return true;
}

struct ot_err *vp_kvm_resident_map(struct vp_kvm *kvm, const struct vp_resident_kernel *k,
				   struct vp_kvm_resident *r)
{
	uint32_t n = entries_of(r), first;
	uint64_t gib = (k->image_end - 1) & ~(GIB - 1), *table, gpa;

	OT_TRY(find_table(kvm, k, gib, &gpa, &table));
	if (is_mapped(table, gib, r, n))
		return NULL;
	OT_TRY(find_empty(table, k->image_end, n, &first));
	r->table = gpa;
	/* Data first, then the code that uses it. */
	for (uint32_t i = n; i-- > 0;)
		if (!ot_guarded_store64(&table[first + i], our_entry(r, i)))
			return REFUSED("the page table of its image is gone");
	r->room.code_gva = gib + first * VP_KVM_LARGE_PAGE;
	r->room.data_gva = r->room.code_gva + r->room.code_size;
	return NULL;
}

/* The table is of a kernel that may have ended: other values there are not ours. */
void vp_kvm_resident_unmap(const struct vp_kvm_resident *r, const struct vp_ram_range *ram, uint32_t nram)
{
	uint64_t first = r->room.code_gva / VP_KVM_LARGE_PAGE % ENTRIES;
	uint64_t *table = r->table ? entries_at(ram, nram, r->table, ENTRIES) : NULL;

	for (uint32_t i = 0; table && i < entries_of(r) && first + i < ENTRIES; i++)
		(void)ot_guarded_exchange(&table[first + i], our_entry(r, i), 0);
}
