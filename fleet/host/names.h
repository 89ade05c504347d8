/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to numbers. For an operator on another machine an address of a guest is the number of a text, and
 * each text is sent once, before the first number that stands for it. Addresses of one name in one guest have
 * one number: as parts of keys they are one key, as they are here.
 *
 * An integer that is a key and that printa() shows by %a is for the operator an integer as any other, by
 * which rows of several hosts are one. So its number is the same on each host: a hash of the text, with the
 * highest bit set. Other numbers count from FL_NAMES_FIRST, which an integer of two bytes, whose values are
 * never replaced, does not reach.
 *
 * What guests show is bounded: after FL_NAMES_MAX texts, or FL_NAMES_BYTES of them, every further one is
 * "(other)".
 */
#ifndef FLEET_HOST_NAMES_H
#define FLEET_HOST_NAMES_H

#include "base/map.h"
#include "consumer/output/print.h"
#include "fleet/host/places.h"
#include "fleet/wire/message.h"

#define FL_NAMES_MAX   (1u << 20)
#define FL_NAMES_BYTES (128u << 20)
#define FL_NAMES_FIRST 0x10000u
#define FL_NAMES_OTHER "(other)"

struct fl_names {
	struct con_printer printer; /* its symbols; of the options, the lengths of stacks */
	struct ot_map numbers;      /* room, guest, text, note → its number */
	struct ot_map hashes;       /* numbers of integers that were sent */
	struct ot_map addresses;    /* of keys: guest, form, process, address → its number */
	uint64_t next;
	size_t bytes;
	size_t remembered;   /* maximum number of addresses; then all are looked up anew */
	bool joint;          /* names are the same for all guests: a merger's */
	struct ot_buf fresh; /* elements of FL_NAMES that were not sent yet */
	struct ot_buf key;
};

/** @p symbols and @p opts as a printer has them. */
void fl_names_init(struct fl_names *names, const struct con_symbols *symbols, const struct dif_options *opts);
void fl_names_deinit(struct fl_names *names);

/** Replace the addresses in @p data, a record or a tuple of guest @p guest, by numbers. @p keys: they are of
 * an aggregation, whose names are looked up once, as by the consumer. */
OT_MUST_CHECK struct ot_err *fl_names_replace(struct fl_names *names, uint32_t guest,
					      const struct fl_places *places, bool keys, uint8_t *data);

/** Was "(other)" used? */
bool fl_names_overflowed(const struct fl_names *names);

#endif
