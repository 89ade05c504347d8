/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locating the tables of kallsyms. The token table is found by its digits and verified by the index that
 * follows it, which contains the offset of each of its 256 strings. Then backwards: the markers, an ascending
 * list with the offset of every 256th name; and the names, which are at the right place if walking them
 * matches every marker. A wrong hypothesis can't satisfy so many conditions.
 */
#include <string.h>

#include "vmm-probe/guest/kallsyms.h"
#include "vmm-probe/guest/kallsyms_internal.h"

#define TOKENS_PAD   16         /* at most, between the strings and their index */
#define SEARCH_MAX   (8u << 20) /* bytes of seqs between markers and tokens at most */
#define PAD_MAX      16
#define MARKERS_MAX  (VP_KALLSYMS_MAX / 256 + 1)
#define NAMES_MARKER 256 /* names from one marker to the next */

static uint16_t u16_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t uint_at(const uint8_t *p, unsigned int size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

/* The offset after @p n strings from @p off; 0: they exceed the image. */
static size_t skip_strings(const uint8_t *image, size_t size, size_t off, unsigned int n)
{
	while (n--) {
		const uint8_t *nul = off < size ? memchr(image + off, 0, size - off) : NULL;

		if (!nul)
			return 0;
		off = (size_t)(nul - image) + 1;
	}
	return off;
}

/* Does the index at @p index describe the strings at @p off? */
static bool index_fits(const uint8_t *image, size_t off, size_t end, size_t index,
		       struct vp_kallsyms_tokens *ret)
{
	size_t at = off;

	for (unsigned int i = 0; i < VP_KALLSYMS_TOKENS; i++) {
		size_t len;

		if (at >= end || u16_at(image + index + 2 * i) != at - off)
			return false;
		len = strnlen((const char *)image + at, end - at);
		ret->text[i] = (const char *)image + at;
		ret->len[i] = (uint16_t)len;
		at += len + 1;
	}
	return at == end;
}

bool vp_kallsyms_check_tokens(const uint8_t *image, size_t size, size_t off, struct vp_kallsyms_tokens *ret)
{
	size_t end = skip_strings(image, size, off, VP_KALLSYMS_TOKENS);

	if (!end || end - off > UINT16_MAX)
		return false;
	for (size_t index = (end + 1) & ~(size_t)1; index <= end + TOKENS_PAD; index += 2) {
		if (index > size || size - index < 2 * VP_KALLSYMS_TOKENS)
			return false;
		if (index_fits(image, off, end, index, ret)) {
			ret->off = off;
			ret->end = index + 2 * VP_KALLSYMS_TOKENS;
			return true;
		}
	}
	return false;
}

bool vp_kallsyms_find_tokens(const uint8_t *image, size_t size, size_t *at, uint64_t *work,
			     struct vp_kallsyms_tokens *ret)
{
	/* Every digit occurs in names, so each is a token: these strings are adjacent. */
	static const char digits[] = "0\0"
				     "1\0"
				     "2\0"
				     "3\0"
				     "4\0"
				     "5\0"
				     "6\0"
				     "7\0"
				     "8\0"
				     "9";

	while (*at < size) {
		const uint8_t *hit = memmem(image + *at, size - *at, digits, sizeof(digits));
		size_t zero, end;

		if (!hit || !vp_kallsyms_spend(work, 2 * VP_KALLSYMS_TOKENS))
			return false;
		zero = (size_t)(hit - image);
		*at = zero + 1;
		/* Entry '0' of the index is the offset of "0", from which the start of the table follows. */
		end = skip_strings(image, size, zero, VP_KALLSYMS_TOKENS - '0');
		for (size_t index = (end + 1) & ~(size_t)1; end && index <= end + TOKENS_PAD; index += 2) {
			size_t back;

			if (index > size || size - index < 2 * VP_KALLSYMS_TOKENS)
				break;
			back = u16_at(image + index + 2 * '0');
			if (back <= zero && vp_kallsyms_check_tokens(image, size, zero - back, ret))
				return true;
		}
	}
	return false;
}

/* Walk the names from *off; they must match all markers. *off becomes the place of the last marker. */
static bool names_meet_markers(const uint8_t *image, const struct vp_kallsyms_tables *t, uint64_t *work,
			       size_t *off)
{
	size_t at = *off, end = t->markers_off;

	for (size_t m = 1; m < t->nmarkers; m++) {
		uint64_t want = uint_at(image + t->markers_off + m * t->marker_size, t->marker_size);

		for (unsigned int i = 0; i < NAMES_MARKER; i++) {
			size_t len, head;

			if (!vp_kallsyms_name(image, at, end, t->uleb, &len, &head) ||
			    !vp_kallsyms_spend(work, 1))
				return false;
			at += head + len;
			if (at - *off > want)
				return false;
		}
		if (at - *off != want)
			return false;
	}
	*off = at;
	return true;
}

/* The number of names at @p off, if so many markers go with it; else 0. */
static uint32_t count_at(const uint8_t *image, size_t off, const struct vp_kallsyms_tables *t)
{
	uint32_t count = (uint32_t)uint_at(image + off, 4);

	return count <= VP_KALLSYMS_MAX && count > (t->nmarkers - 1) * NAMES_MARKER &&
		       count <= t->nmarkers * NAMES_MARKER
		   ? count
		   : 0;
}

/* The names after the last marker must end at the table of markers, except for padding. */
static bool count_fits(const uint8_t *image, const struct vp_kallsyms_tables *t, size_t at, uint32_t count,
		       size_t *ret_end)
{
	for (uint32_t i = (uint32_t)(t->nmarkers - 1) * NAMES_MARKER; i < count; i++) {
		size_t len, head;

		if (!vp_kallsyms_name(image, at, t->markers_off, t->uleb, &len, &head))
			return false;
		at += head + len;
	}
	*ret_end = at;
	return t->markers_off - at < PAD_MAX;
}

/* Do the names start at @p off, preceded by their number? Most offsets have no such number, which costs less
 * to see than names do. */
static bool names_at(const uint8_t *image, size_t off, uint64_t *work, struct vp_kallsyms_tables *t)
{
	size_t last;

	/* 8 or 4 bytes before, depending on the tables' alignment. */
	for (size_t back = 8; back >= 4; back -= 4) {
		t->count = off < back ? 0 : count_at(image, off - back, t);
		last = off;
		if (t->count && names_meet_markers(image, t, work, &last) &&
		    count_fits(image, t, last, t->count, &t->names_end)) {
			t->count_off = off - back;
			t->names_off = off;
			return true;
		}
	}
	return false;
}

/* Find the names before these markers: the distance is the last marker's value plus the size of the names
 * after it (256 at most). */
static bool names_before(const uint8_t *image, uint64_t *work, struct vp_kallsyms_tables *t)
{
	size_t last = t->markers_off + (t->nmarkers - 1) * t->marker_size;
	uint64_t used = uint_at(image + last, t->marker_size);
	size_t high, low, span = (size_t)NAMES_MARKER * (VP_KALLSYMS_NAME_MAX + 2) + PAD_MAX;

	if (used >= t->markers_off)
		return false;
	high = (t->markers_off - (size_t)used) & ~(size_t)3;
	low = high > span ? high - span : 0;
	for (size_t off = high; off > low && vp_kallsyms_spend(work, 1); off -= 4) {
		for (int uleb = 1; uleb >= 0; uleb--) {
			t->uleb = uleb;
			if (names_at(image, off, work, t))
				return true;
		}
	}
	return false;
}

/* Are there @p n markers at @p off? The first is zero; each step is a possible size of 256 names. */
static bool markers_at(const uint8_t *image, size_t off, size_t n, unsigned int size, uint64_t *work)
{
	uint64_t last = uint_at(image + off, size);

	if (last)
		return false;
	for (size_t i = 1; i < n && vp_kallsyms_spend(work, 1); i++) {
		uint64_t v = uint_at(image + off + i * size, size);

		if (v < last + 2 * NAMES_MARKER ||
		    v > last + (uint64_t)NAMES_MARKER * (VP_KALLSYMS_NAME_MAX + 2))
			return false;
		last = v;
	}
	return *work > 0;
}

/* Find markers that end at @p end, directly before the tokens: as many as ascend. */
static bool markers_ending_at(const uint8_t *image, size_t end, unsigned int size, uint64_t *work,
			      struct vp_kallsyms_tables *t)
{
	uint64_t later = UINT64_MAX;
	size_t n = 0;

	while (n < MARKERS_MAX && end >= (n + 1) * size) {
		uint64_t v = uint_at(image + end - (n + 1) * size, size);

		if (v >= later)
			return false;
		n++;
		if (!v)
			break;
		later = v;
	}
	if (n < 2 || !markers_at(image, end - n * size, n, size, work))
		return false;
	t->markers_off = end - n * size;
	t->nmarkers = n;
	t->marker_size = size;
	return true;
}

/* Find markers that end at @p end, with 3 bytes a symbol (kallsyms_seqs_of_names) between them and the
 * tokens: the number of markers follows from that gap. */
static bool markers_before_seqs(const uint8_t *image, size_t end, size_t gap, unsigned int size,
				uint64_t *work, struct vp_kallsyms_tables *t)
{
	size_t most = (gap / 3 + NAMES_MARKER - 1) / NAMES_MARKER;
	size_t least = ((gap - PAD_MAX) / 3 + NAMES_MARKER - 1) / NAMES_MARKER;

	for (size_t n = least < 2 ? 2 : least; n <= most; n++) {
		if (end < n * size || !markers_at(image, end - n * size, n, size, work))
			continue;
		t->markers_off = end - n * size;
		t->nmarkers = n;
		t->marker_size = size;
		return true;
	}
	return false;
}

bool vp_kallsyms_find_tables(const uint8_t *image, size_t size, const struct vp_kallsyms_tokens *tokens,
			     uint64_t *work, struct vp_kallsyms_tables *ret)
{
	static const unsigned int sizes[] = { 4, 8 };

	if (tokens->off > size)
		return false;
	for (size_t end = tokens->off & ~(size_t)3;
	     end && tokens->off - end < SEARCH_MAX && vp_kallsyms_spend(work, 1); end -= 4) {
		size_t gap = tokens->off - end;

		for (unsigned int i = 0; i < 2; i++) {
			struct vp_kallsyms_tables t = { 0 };

			if (gap <= PAD_MAX ? !markers_ending_at(image, end, sizes[i], work, &t)
					   : !markers_before_seqs(image, end, gap, sizes[i], work, &t))
				continue;
			if (names_before(image, work, &t)) {
				*ret = t;
				return true;
			}
		}
	}
	return false;
}
