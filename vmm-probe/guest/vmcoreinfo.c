/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding and parsing vmcoreinfo pages. */
#include "vmm-probe/guest/vmcoreinfo.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"

#define MARK     "OSRELEASE="
#define MARK_LEN (sizeof(MARK) - 1)

/* A NAME=VALUE line; pointers into the page. */
struct line {
	const char *key, *value;
	size_t key_len, value_len;
};

static bool line_is(const struct line *line, const char *key)
{
	return line->key_len == strlen(key) && !memcmp(line->key, key, line->key_len);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* A hexadecimal number of at most 64 bits, which must be the whole value. */
static bool parse_hex(const struct line *line, uint64_t *ret)
{
	uint64_t value = 0;

	if (!line->value_len || line->value_len > 16)
		return false;
	for (size_t i = 0; i < line->value_len; i++) {
		int digit = hex_digit(line->value[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

/* A decimal number with a sign (phys_base is negative if the kernel is below its link address). */
static bool parse_dec(const struct line *line, uint64_t *ret)
{
	bool minus = line->value_len && line->value[0] == '-';
	uint64_t value = 0;

	if (line->value_len == minus || line->value_len > 20)
		return false;
	for (size_t i = minus; i < line->value_len; i++) {
		unsigned int digit = (unsigned int)(line->value[i] - '0');

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = minus ? -value : value;
	return true;
}

static void parse_build_id(const struct line *line, struct vp_vmcoreinfo *info)
{
	size_t n = line->value_len / 2;

	if (line->value_len % 2 || n > VP_BUILD_ID_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		int hi = hex_digit(line->value[2 * i]), lo = hex_digit(line->value[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return;
		info->build_id[i] = (uint8_t)(hi << 4 | lo);
	}
	info->build_id_len = n;
}

static void parse_line(const struct line *line, struct vp_vmcoreinfo *info)
{
	static const struct {
		const char *key;
		size_t field;
	} addresses[] = {
		{ "SYMBOL(_stext)", offsetof(struct vp_vmcoreinfo, stext) },
		{ "SYMBOL(init_top_pgt)", offsetof(struct vp_vmcoreinfo, init_top_pgt) },
		{ "SYMBOL(swapper_pg_dir)", offsetof(struct vp_vmcoreinfo, init_top_pgt) },
		{ "SYMBOL(kallsyms_token_table)", offsetof(struct vp_vmcoreinfo, kallsyms_token_table) },
		{ "KERNELOFFSET", offsetof(struct vp_vmcoreinfo, kernel_offset) },
	};
	uint64_t value;

	if (line_is(line, "OSRELEASE") && line->value_len < VP_RELEASE_MAX) {
		memcpy(info->release, line->value, line->value_len);
	} else if (line_is(line, "BUILD-ID")) {
		parse_build_id(line, info);
	} else if (line_is(line, "NUMBER(phys_base)")) {
		info->have_phys_base = parse_dec(line, &info->phys_base);
	} else if (line_is(line, "NUMBER(pgtable_l5_enabled)")) {
		info->l5 = parse_dec(line, &value) && value == 1;
	} else if (line_is(line, "NUMBER(sme_mask)")) {
		info->sme_mask = parse_dec(line, &value) ? value : 0;
	} else {
		for (size_t i = 0; i < OT_ARRAY_SIZE(addresses); i++) {
			if (line_is(line, addresses[i].key) && parse_hex(line, &value))
				memcpy((char *)info + addresses[i].field, &value, sizeof(value));
		}
	}
}

struct ot_err *vp_vmcoreinfo_parse(const char *text, size_t len, struct vp_vmcoreinfo *ret)
{
	struct vp_vmcoreinfo info = { 0 };
	const char *end;

	len = strnlen(text, len);
	end = text + len;
	if (len < MARK_LEN || memcmp(text, MARK, MARK_LEN) != 0)
		return ot_err_new(OT_ERR_BAD_DATA, "no vmcoreinfo: it doesn't start with " MARK);
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *eq;

		if (!eol)
			eol = end;
		eq = memchr(text, '=', (size_t)(eol - text));
		if (eq) {
			struct line line = { text, eq + 1, (size_t)(eq - text), (size_t)(eol - eq - 1) };

			parse_line(&line, &info);
		}
		text = eol + 1;
	}
	if (!info.release[0])
		return ot_err_new(OT_ERR_BAD_DATA, "vmcoreinfo has no release");
	*ret = info;
	return NULL;
}

#define CHUNK (1u << 20)

/* Scan one stretch of populated RAM; *found stays false if it has no vmcoreinfo. */
static struct ot_err *scan_stretch(const struct vp_phys *phys, uint64_t start, uint64_t end, uint64_t *budget,
				   char *chunk, struct vp_vmcoreinfo *ret, bool *found)
{
	for (uint64_t at = start; at < end && !*found; at += CHUNK) {
		size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;

		if (*budget < n)
			return ot_err_new(OT_ERR_LIMIT, "no vmcoreinfo in the part of RAM that was searched");
		*budget -= n;
		OT_TRY(vp_budget_check());
		OT_TRY(vp_phys_read(phys, vp_gpa(at), chunk, n));
		for (size_t page = 0; page + VP_PAGE_SIZE <= n; page += VP_PAGE_SIZE) {
			struct ot_err *err;

			if (memcmp(chunk + page, MARK, MARK_LEN) != 0)
				continue;
			err = vp_vmcoreinfo_parse(chunk + page, VP_PAGE_SIZE, ret);
			if (!err) {
				ret->gpa = vp_gpa(at + page);
				*found = true;
				break;
			}
			ot_err_destroy(err); /* other data that begins like it */
		}
	}
	return NULL;
}

struct ot_err *vp_vmcoreinfo_find(const struct vp_phys *phys, struct vp_gpa from, uint64_t *budget,
				  struct vp_vmcoreinfo *ret)
{
	ot_auto_free char *chunk = malloc(CHUNK);
	struct vp_gpa start, end;
	bool found = false;

	if (!chunk)
		return ot_err_nomem();
	from.v = (from.v + VP_PAGE_SIZE - 1) & VP_PAGE_MASK;
	while (!found) {
		struct ot_err *err = vp_phys_next_data(phys, from, &start, &end);

		if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
			ot_err_destroy(err);
			return ot_err_new(OT_ERR_NOT_FOUND, "no vmcoreinfo in RAM");
		}
		OT_TRY(err);
		/* Holes may end inside a page. */
		start.v &= VP_PAGE_MASK;
		end.v = (end.v + VP_PAGE_SIZE - 1) & VP_PAGE_MASK;
		OT_TRY(scan_stretch(phys, start.v, end.v, budget, chunk, ret, &found));
		from = end;
	}
	return NULL;
}
