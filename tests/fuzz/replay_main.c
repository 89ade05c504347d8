/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for libFuzzer in ordinary builds: runs a fuzzer's entry on files and on all files of
 * directories, and with --random N on N inputs made from a fixed seed (N / 4 without --full): half of
 * them noise, half of them seeds with bytes changed. A seed that its fuzzer does not get through fails.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "tests/fuzz/seed.h"
#include "tests/unit/pace.h"

#define INPUT_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
	char *data;
	size_t size;
};

static struct seed *seeds;
static size_t nseeds;

static int run_file(const char *path)
{
	struct ot_err *err;
	struct seed s;

	err = ot_read_file(path, INPUT_MAX, &s.data, &s.size);
	if (err) {
		fprintf(stderr, "%s: %s\n", path, ot_err_message(err));
		ot_err_destroy(err);
		return 1;
	}
	seeds = realloc(seeds, (nseeds + 1) * sizeof(*seeds));
	if (!seeds)
		return 1;
	seeds[nseeds++] = s;
	LLVMFuzzerTestOneInput((const uint8_t *)s.data, s.size);
	if (fuzz_seed_reached && !fuzz_seed_reached()) {
		fprintf(stderr, "%s: refused, so this seed and all that is made from it test nothing\n",
			path);
		return 1;
	}
	return 0;
}

static int run_directory(const char *path)
{
	DIR *dir = opendir(path);
	int failed = dir == NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char name[4096];
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		failed |= run_file(name);
	}
	if (dir)
		closedir(dir);
	return failed;
}

static void run_random(unsigned long count)
{
	unsigned state = 20100314;

	for (unsigned long i = 0; i < count; i++) {
		const struct seed *s = nseeds && i % 2 ? &seeds[(unsigned)rand_r(&state) % nseeds] : NULL;
		size_t size = s ? s->size : (unsigned)rand_r(&state) % 600;
		uint8_t *data = malloc(size ? size : 1); /* exactly, for the sanitizer */
		if (!data)
			exit(1);
		for (size_t k = 0; k < size; k++)
			data[k] = s ? (uint8_t)s->data[k] : (uint8_t)(rand_r(&state) >> 8);
		for (int k = rand_r(&state) % 8; s && size && k >= 0; k--)
			data[(unsigned)rand_r(&state) % size] = (uint8_t)(rand_r(&state) >> 8);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
}

int main(int argc, char **argv)
{
	unsigned long count = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;
		if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
			count = strtoul(argv[++i], NULL, 10);
		else if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			failed |= run_directory(argv[i]);
		else
			failed |= run_file(argv[i]);
	}
	if (!nseeds)
		failed |= fprintf(stderr, "no seeds were found\n") > 0;
	count = pace_rounds(count / 4, count);
	run_random(count);
	printf("%zu seeds, %lu made-up inputs\n", nseeds, count);
	for (size_t i = 0; i < nseeds; i++)
		free(seeds[i].data);
	free(seeds);
	return failed;
}
