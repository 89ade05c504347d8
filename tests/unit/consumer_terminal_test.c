/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cli/terminal: what a terminal gets to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/utf8.h"
#include "consumer/terminal.h"

struct screen {
	int fd;
	FILE *fp;
};

static void screen_init(struct screen *s, bool utf8)
{
	s->fd = memfd_create("screen", MFD_CLOEXEC);
	assert_true(s->fd >= 0);
	s->fp = con_terminal_guard_test(s->fd, utf8);
	assert_non_null(s->fp);
	assert_int_equal(con_terminal_fileno(s->fp), s->fd);
}

/* What it shows in all; the end of it. */
static size_t screen_end(struct screen *s, char *ret, size_t size)
{
	assert_int_equal(fclose(s->fp), 0);
	ssize_t n = pread(s->fd, ret, size - 1, 0);
	assert_true(n >= 0);
	ret[n] = '\0';
	close(s->fd);
	return (size_t)n;
}

static void shows(bool utf8, const void *data, size_t len, const char *want)
{
	char text[256];

	/* in every two parts that it has */
	for (size_t cut = 0; cut <= len; cut++) {
		struct screen s;
		screen_init(&s, utf8);
		fwrite(data, 1, cut, s.fp);
		fflush(s.fp);
		fwrite((const char *)data + cut, 1, len - cut, s.fp);
		screen_end(&s, text, sizeof(text));
		assert_string_equal(text, want);
	}
}

#define SHOWS(utf8, data, want) shows(utf8, data, sizeof(data) - 1, want)

static void each_byte_alone_is_itself_or_a_question_mark(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		const char data[] = { 'a', (char)c, 'b' };
		bool good = (c >= ' ' && c < 0x7f) || c == '\t' || c == '\n';
		const char want[] = { 'a', good ? (char)c : '?', 'b', '\0' };
		shows(true, data, sizeof(data), want);
		shows(false, data, sizeof(data), want);
	}
}

/* Every character that two, three and four bytes can spell, and what they spell that is none. */
static void no_character_of_unicode_is_a_control(void **state)
{
	(void)state;
	for (uint32_t c = 0x80; c < 0x2100; c++) {
		char data[8], want[8] = "?";
		int n = c < 0x800 ? snprintf(data, sizeof(data), "%c%c", (int)(0xc0 | c >> 6),
					     (int)(0x80 | (c & 0x3f)))
				  : snprintf(data, sizeof(data), "%c%c%c", (int)(0xe0 | c >> 12),
					     (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
		bool bad = c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f ||
			   (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
		if (!bad)
			memcpy(want, data, (size_t)n + 1);
		shows(true, data, (size_t)n, want);
	}
}

static void what_is_no_utf8_is_shown_as_such(void **state)
{
	(void)state;
	SHOWS(true, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	SHOWS(true, "\xc0\xaf|\xe0\x9b\x9b|\xed\xa0\x80|\xf4\x90\x80\x80|\xff", "??|???|???|????|?");
	SHOWS(true, "\xe2\x82", "?");
	SHOWS(true, "\xe2\x82|\xc3", "??|?");
	SHOWS(true, "\xc2\x1b[2J", "??[2J");
	SHOWS(false, "\xc3\xa9 \xc4\x9b", "?? ??");
}

static void lines_end_and_do_not_begin_again(void **state)
{
	(void)state;
	SHOWS(true, "GET /\r\nx\ry\r", "GET /\r\nx?y?");
	SHOWS(true, "a\b\b\bsafe\x1b]0;title\a\v\f", "a???safe?]0;title???");
}

static void a_programs_own_text_is_obeyed(void **state)
{
	struct screen s;
	char text[64];

	(void)state;
	screen_init(&s, true);
	fputs("\033[1m", s.fp);
	con_terminal_raw(s.fp, "\033[2J", 4);
	fputs("\033[1m", s.fp);
	con_terminal_raw(s.fp, "plain", 5);
	screen_end(&s, text, sizeof(text));
	assert_string_equal(text, "?[1m\033[2J?[1mplain");
}

/* A file has every byte: nothing is lost for who reads it. */
static void a_file_gets_every_byte(void **state)
{
	char name[] = "/tmp/outsight-terminal-XXXXXX", all[256], back[sizeof(all) + 1];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	FILE *under = fdopen(dup(fd), "w"), *fp = under ? con_terminal_guard(under) : NULL;
	assert_non_null(fp);
	assert_ptr_not_equal(fp, under);
	assert_int_equal(fwrite(all, 1, sizeof(all), fp), sizeof(all));
	assert_int_equal(fclose(fp), 0);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(all));
	assert_memory_equal(all, back, sizeof(all));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_alone_is_itself_or_a_question_mark),
		cmocka_unit_test(no_character_of_unicode_is_a_control),
		cmocka_unit_test(what_is_no_utf8_is_shown_as_such),
		cmocka_unit_test(lines_end_and_do_not_begin_again),
		cmocka_unit_test(a_programs_own_text_is_obeyed),
		cmocka_unit_test(a_file_gets_every_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
