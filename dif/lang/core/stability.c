/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stability attributes and versions as text. */
#include "dif/lang/core/stability.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

static const char *const stabilities[] = {
#define X(name, text) #text,
	DIF_STABILITIES(X)
#undef X
};

static const char *const classes[] = {
#define X(name, text) #text,
	DIF_CLASSES(X)
#undef X
};

const char *dif_stability_text(uint8_t stability)
{
	return stability < OT_ARRAY_SIZE(stabilities) ? stabilities[stability] : "Internal";
}

const char *dif_class_text(uint8_t class)
{
	return class < OT_ARRAY_SIZE(classes) ? classes[class] : "Unknown";
}

/* The index in @names of the @len characters at @s; -1: none. */
static int find(const char *const *names, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && !strncasecmp(names[i], s, len))
			return (int)i;
	return -1;
}

bool dif_attribute_parse(const char *text, struct dif_attribute *ret)
{
	const char *a = strchr(text, '/'), *b = a ? strchr(a + 1, '/') : NULL;

	if (!b)
		return false;
	int name = find(stabilities, OT_ARRAY_SIZE(stabilities), text, (size_t)(a - text));
	int data = find(stabilities, OT_ARRAY_SIZE(stabilities), a + 1, (size_t)(b - a - 1));
	int class = find(classes, OT_ARRAY_SIZE(classes), b + 1, strlen(b + 1));
	if (name < 0 || data < 0 || class < 0)
		return false;
	*ret = (struct dif_attribute){ (uint8_t)name, (uint8_t)data, (uint8_t) class };
	return true;
}

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

struct dif_attribute dif_attribute_min(struct dif_attribute a, struct dif_attribute b)
{
	return (struct dif_attribute){ lesser(a.name, b.name), lesser(a.data, b.data),
				       lesser(a.class, b.class) };
}

bool dif_attribute_below(struct dif_attribute a, struct dif_attribute least)
{
	return a.name < least.name || a.data < least.data || a.class < least.class;
}

/* --- versions ---------------------------------------------------------------------------------- */

static const uint32_t versions[] = {
	DIF_VERSION(1, 0, 0),  DIF_VERSION(1, 1, 0),  DIF_VERSION(1, 2, 0),  DIF_VERSION(1, 2, 1),
	DIF_VERSION(1, 2, 2),  DIF_VERSION(1, 3, 0),  DIF_VERSION(1, 4, 0),  DIF_VERSION(1, 4, 1),
	DIF_VERSION(1, 5, 0),  DIF_VERSION(1, 6, 0),  DIF_VERSION(1, 6, 1),  DIF_VERSION(1, 6, 2),
	DIF_VERSION(1, 6, 3),  DIF_VERSION(1, 7, 0),  DIF_VERSION(1, 7, 1),  DIF_VERSION(1, 8, 0),
	DIF_VERSION(1, 8, 1),  DIF_VERSION(1, 9, 0),  DIF_VERSION(1, 9, 1),  DIF_VERSION(1, 10, 0),
	DIF_VERSION(1, 11, 0), DIF_VERSION(1, 12, 0), DIF_VERSION(1, 12, 1), DIF_VERSION(1, 13, 0),
};

bool dif_version_parse(const char *text, uint32_t *ret)
{
	static const uint32_t max[3] = { 0xff, 0xfff, 0xfff };
	uint32_t part[3] = { 0 };
	unsigned n = 0;

	for (; n < 3; n++) {
		if (!isdigit((unsigned char)*text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			part[n] = part[n] * 10 + (uint32_t)(*text - '0');
			if (part[n] > max[n])
				return false;
		}
		if (*text != '.')
			break;
		text++;
	}
	if (*text || !n || n == 3)
		return false;
	*ret = DIF_VERSION(part[0], part[1], part[2]);
	return true;
}

bool dif_version_exists(uint32_t version)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(versions); i++)
		if (versions[i] == version)
			return true;
	return false;
}
