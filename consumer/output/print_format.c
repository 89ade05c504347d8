/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printf() and printa() by a parsed format. The compiler has made sizes and signs explicit, so
 * a conversion and the datum's size say all; each is printed through one C conversion with the
 * same flags, width and precision.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumer/output/print.h"
#include "consumer/output/print_quantize.h"
#include "consumer/terminal.h"

#define EXTENT_MAX 65536

/* A conversion with its width and precision known. */
struct spec {
	const struct dif_conv *conv;
	int width; /* as C's: negative is left-aligned */
	int prec;  /* -1: none */
};

/* "%", flags, "*.*" and @letters. */
static void c_format(const struct spec *s, const char *letters, char out[16])
{
	uint32_t flags = s->conv->flags;
	char *o = out;

	*o++ = '%';
	if (flags & DIF_CONV_ALT)
		*o++ = '#';
	if (flags & DIF_CONV_ZERO)
		*o++ = '0';
	if (flags & DIF_CONV_LEFT)
		*o++ = '-';
	if (flags & DIF_CONV_PLUS)
		*o++ = '+';
	if (flags & DIF_CONV_GROUP)
		*o++ = '\'';
	if (flags & DIF_CONV_SPACE)
		*o++ = ' ';
	*o++ = '*';
	*o++ = '.';
	*o++ = '*';
	while (*letters)
		*o++ = *letters++;
	*o = '\0';
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void print_text(struct con_printer *p, const struct spec *s, const char *text)
{
	char fmt[16];

	c_format(s, "s", fmt);
	fprintf(p->fp, fmt, s->width, s->prec, text);
}

static void print_number(struct con_printer *p, const struct spec *s, char letter, long long n)
{
	char fmt[16], letters[] = { 'l', 'l', letter, '\0' };

	c_format(s, letters, fmt);
	fprintf(p->fp, fmt, s->width, s->prec, n);
}

static void print_char(struct con_printer *p, const struct spec *s, int c)
{
	char fmt[16];

	c_format(s, "c", fmt);
	/* %c has no precision, and no 0 flag, which glibc would honour */
	fprintf(p->fp, fmt, s->width, -1, c);
}

static void print_float(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	char fmt[16], letters[] = { s->conv->conv, '\0', '\0' };
	long double ld;
	double n;
	float f;

	if (d->size == sizeof(ld)) {
		letters[0] = 'L';
		letters[1] = s->conv->conv;
		memcpy(&ld, d->data, sizeof(ld));
		c_format(s, letters, fmt);
		fprintf(p->fp, fmt, s->width, s->prec, ld);
		return;
	}
	if (d->size == sizeof(n)) {
		memcpy(&n, d->data, sizeof(n));
	} else if (d->size == sizeof(f)) {
		memcpy(&f, d->data, sizeof(f));
		n = f;
	} else {
		return;
	}
	c_format(s, letters, fmt);
	fprintf(p->fp, fmt, s->width, s->prec, n);
}

#pragma GCC diagnostic pop

static void print_integer(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	char c = s->conv->conv;

	/* plain %d prints chars and shorts unsigned, as in dtrace */
	if (c == 'd' && d->size < 4 && !*s->conv->size)
		print_number(p, s, c, (long long)con_load(d->data, d->size));
	else if (c == 'd' || c == 'i')
		print_number(p, s, c, con_load_signed(d->data, d->size));
	else
		print_number(p, s, c == 'p' ? 'x' : c, (long long)con_load(d->data, d->size));
}

/* A string that may lack its NUL: at most @size bytes. */
static void print_string(struct con_printer *p, const struct spec *s, const void *data, size_t size)
{
	struct spec bounded = *s;
	size_t len = strnlen(data, size);

	if (len > INT32_MAX)
		len = INT32_MAX;
	if (bounded.prec < 0 || (size_t)bounded.prec > len)
		bounded.prec = (int)len;
	print_text(p, &bounded, data);
}

/* @size bytes in the form of a C string literal, up to and including a NUL. */
static void print_escaped(struct con_printer *p, const struct spec *s, const void *data, size_t size)
{
	static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
	const char *bytes = data, *end = memchr(data, '\0', size);
	size_t len = end ? (size_t)(end - bytes) : size;
	struct ot_buf out;

	ot_buf_init(&out);
	for (size_t i = 0; i < len; i++) {
		const char *at = strchr(from, bytes[i]);
		if (at)
			ot_buf_printf(&out, "\\%c", to[at - from]);
		else if (bytes[i] < ' ' || bytes[i] > '~')
			ot_buf_printf(&out, "\\%03o", (unsigned char)bytes[i]);
		else
			ot_buf_putc(&out, bytes[i]);
	}
	if (end)
		ot_buf_puts(&out, "\\0");
	print_text(p, s, ot_buf_str(&out));
	ot_buf_deinit(&out);
}

static void append_utf8(struct ot_buf *out, uint32_t c)
{
	if (c < 0x80) {
		ot_buf_putc(out, (char)c);
	} else if (c < 0x800) {
		ot_buf_putc(out, (char)(0xc0 | c >> 6));
		ot_buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		ot_buf_putc(out, (char)(0xe0 | c >> 12));
		ot_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		ot_buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x110000) {
		ot_buf_putc(out, (char)(0xf0 | c >> 18));
		ot_buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		ot_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		ot_buf_putc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Wide characters (of four bytes) up to a zero, as UTF-8. */
static void print_wide(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	struct ot_buf out;

	ot_buf_init(&out);
	for (uint32_t at = 0; at + 4 <= d->size; at += 4) {
		uint32_t c = (uint32_t)con_load(d->data + at, 4);
		if (!c)
			break;
		append_utf8(&out, c);
	}
	print_text(p, s, ot_buf_str(&out));
	ot_buf_deinit(&out);
}

static void print_time(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	time_t sec = (time_t)(con_load_signed(d->data, d->size) / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&sec, &tm))
		strftime(text, sizeof(text),
			 s->conv->conv == 'Y' ? "%Y %b %e %H:%M:%S" : "%a, %d %b %G %T %Z", &tm);
	print_text(p, s, text);
}

static void print_port(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	uint16_t port = (uint16_t)con_load(d->data, d->size);
	char mem[1024], text[16];
	struct servent entry, *found = NULL;

	if (!getservbyport_r(htons(port), NULL, &entry, mem, sizeof(mem), &found) && found) {
		print_text(p, s, found->s_name);
		return;
	}
	snprintf(text, sizeof(text), "%u", port);
	print_text(p, s, text);
}

/* An address in text form, as the name it resolves to; unchanged if it has none, or if a guest chooses it: a
 * look-up would send its bytes to a name server of its choice, and wait for the answer. */
static void print_host(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *info = NULL;
	char text[256], host[NI_MAXHOST];

	snprintf(text, sizeof(text), "%.*s", (int)strnlen((const char *)d->data, d->size),
		 (const char *)d->data);
	if (p->asks_names && !p->opts->noresolve && !getaddrinfo(text, NULL, &hints, &info) &&
	    !getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), NULL, 0, NI_NAMEREQD))
		print_string(p, s, host, sizeof(host));
	else
		print_string(p, s, text, sizeof(text));
	if (info)
		freeaddrinfo(info);
}

static void print_stack(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	struct con_stack_style style = { .width = s->width, .prec = s->prec };

	/* left-aligned, the width is the indentation: the odd but published meaning of %-20k */
	if (s->width < 0 || s->conv->flags & DIF_CONV_LEFT) {
		style.indent = abs(s->width);
		style.width = 0;
	}
	con_print_stack(p, d, style);
}

/* %a, and any conversion of a symbol's value. */
static void print_address(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	char text[CON_SYMBOL_MAX];

	switch (d->action->kind) {
	case DIF_ACT_sym:
	case DIF_ACT_mod:
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		con_symbol_text(p, d, text, sizeof(text));
		break;
	default:
		if (s->conv->conv == 'A')
			con_user_text(p, p->target_pid, con_load(d->data, d->size), VP_SYM_OFFSET, text,
				      sizeof(text));
		else
			con_kernel_text(p, con_load(d->data, d->size), VP_SYM_OFFSET, text, sizeof(text));
	}
	print_text(p, s, text);
}

static void print_arg(struct con_printer *p, const struct spec *s, const struct con_datum *d)
{
	bool wide = s->conv->size[0] == 'l' || s->conv->size[0] == 'w';
	char c;

	switch (s->conv->conv) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
	case 'p':
		print_integer(p, s, d);
		return;
	case 'c':
		if (wide)
			print_wide(p, s, d);
		else
			print_char(p, s, (unsigned char)con_load(d->data, d->size));
		return;
	case 'C':
		c = (char)con_load(d->data, d->size);
		print_escaped(p, s, &c, 1);
		return;
	case 's':
		if (wide)
			print_wide(p, s, d);
		else
			print_string(p, s, d->data, d->size);
		return;
	case 'S':
		print_escaped(p, s, d->data, d->size);
		return;
	case 'a':
	case 'A':
		print_address(p, s, d);
		return;
	case 'k':
		print_stack(p, s, d);
		return;
	case 'Y':
	case 'T':
		print_time(p, s, d);
		return;
	case 'P':
		print_port(p, s, d);
		return;
	case 'I':
		print_host(p, s, d);
		return;
	default:
		print_float(p, s, d);
		return;
	}
}

/* %@: an aggregation's number by any conversion of 64 bits; histograms have a form of their own. */
static void print_aggval(struct con_printer *p, const struct spec *s, const struct con_aggval *val)
{
	static const struct dif_action plain = { .kind = DIF_ACT_difexpr };
	int64_t number;

	if (con_aggval_is_histogram(val->kind)) {
		con_print_histogram(p, val);
		return;
	}
	number = con_aggval_number(val);
	print_arg(p, s, &(struct con_datum){ &plain, (const uint8_t *)&number, sizeof(number) });
}

/* Arguments not consumed yet. */
struct cursor {
	const struct con_datum *args;
	unsigned left;
};

static const struct con_datum *next_arg(struct cursor *args)
{
	if (!args->left)
		return NULL;
	args->left--;
	return args->args++;
}

/* A width or precision from data. It may be a guest's number, so bound it: not two gigabytes of blanks. */
static int next_int(struct cursor *args)
{
	const struct con_datum *d = next_arg(args);
	int64_t n = d ? (int32_t)con_load_signed(d->data, d->size) : 0;

	return n > EXTENT_MAX ? EXTENT_MAX : n < -EXTENT_MAX ? -EXTENT_MAX : (int)n;
}

static struct spec resolve(const struct dif_conv *conv, struct cursor *args)
{
	struct spec s = { .conv = conv, .width = conv->width, .prec = conv->prec };

	if (s.width < 0)
		s.width = conv->flags & DIF_CONV_POINTER_WIDTH ? 16 : 0;
	if (conv->flags & DIF_CONV_STAR_WIDTH)
		s.width = next_int(args);
	if (conv->flags & DIF_CONV_STAR_PREC)
		s.prec = next_int(args);
	if (s.prec <= 0)
		s.prec = -1;
	return s;
}

void con_print_format(struct con_printer *p, const struct dif_format *fmt, const struct con_datum *args,
		      unsigned nargs, const struct con_aggval *vals, unsigned nvals)
{
	struct cursor cursor = { args, nargs };
	unsigned val = 0;

	for (uint32_t i = 0; i < fmt->nconvs; i++) {
		const struct dif_conv *conv = &fmt->convs[i];
		if (conv->literal_len)
			con_terminal_raw(p->fp, conv->literal, conv->literal_len);
		if (!conv->conv)
			continue;
		if (conv->conv == '%') {
			putc('%', p->fp);
			continue;
		}
		struct spec s = resolve(conv, &cursor);
		if (conv->flags & DIF_CONV_AGG) {
			if (nvals)
				print_aggval(p, &s, &vals[val]);
			if (val + 1 < nvals)
				val++;
			continue;
		}
		const struct con_datum *d = next_arg(&cursor);
		if (d)
			print_arg(p, &s, d);
	}
}
