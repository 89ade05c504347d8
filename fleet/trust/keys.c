/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys: generating, reading and printing them. The file has the seed, from which both halves are derived. */
#include "fleet/trust/keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "fleet/trust/file.h"

#define MARK      "outsight-secret-key-1 "
#define SEED_TEXT sodium_base64_ENCODED_LEN(crypto_sign_SEEDBYTES, sodium_base64_VARIANT_ORIGINAL)
#define FILE_MAX  4096

_Static_assert(FL_PUBLIC == crypto_sign_PUBLICKEYBYTES && FL_SECRET == crypto_sign_SECRETKEYBYTES, "Ed25519");
_Static_assert(FL_PUBLIC_TEXT == sodium_base64_ENCODED_LEN(FL_PUBLIC, sodium_base64_VARIANT_ORIGINAL),
	       "base64 of a key");

struct ot_err *fl_trust_start(void)
{
	if (sodium_init() < 0)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "libsodium does not start: no source of random numbers");
	return NULL;
}

/* The file is created complete, or not at all. */
static struct ot_err *write_seed(const char *path, const char *text)
{
	ot_auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return ot_err_os(errno, "%s", path);
	struct ot_err *err = ot_write_all(fd, text, strlen(text));

	if (!err && fsync(fd))
		err = ot_err_os(errno, "fsync");
	if (err)
		unlink(path);
	return ot_err_prefix(err, "%s", path);
}

struct ot_err *fl_identity_make(const char *path, struct fl_identity *ret)
{
	uint8_t seed[crypto_sign_SEEDBYTES];
	char text[sizeof(MARK) + SEED_TEXT + 1] = MARK;
	struct fl_identity id;

	OT_TRY(fl_trust_start());
	randombytes_buf(seed, sizeof(seed));
	crypto_sign_seed_keypair(id.public, id.secret, seed);
	sodium_bin2base64(text + strlen(MARK), SEED_TEXT, seed, sizeof(seed), sodium_base64_VARIANT_ORIGINAL);
	strcat(text, "\n");
	struct ot_err *err = write_seed(path, text);

	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, sizeof(text));
	if (!err)
		*ret = id;
	fl_identity_wipe(&id);
	return err;
}

static bool decode(const char *text, uint8_t *ret, size_t len)
{
	size_t got;

	return !sodium_base642bin(ret, len, text, strlen(text), NULL, &got, NULL,
				  sodium_base64_VARIANT_ORIGINAL) &&
	       got == len;
}

static bool parse_seed(char *text, size_t len, uint8_t seed[crypto_sign_SEEDBYTES])
{
	if (len && text[len - 1] == '\n')
		text[--len] = '\0';
	return strlen(text) == len && !strncmp(text, MARK, strlen(MARK)) &&
	       decode(text + strlen(MARK), seed, crypto_sign_SEEDBYTES);
}

struct ot_err *fl_identity_read(const char *path, struct fl_identity *ret)
{
	uint8_t seed[crypto_sign_SEEDBYTES];
	ot_auto_free char *text = NULL;
	ot_auto_close int fd = -1;
	size_t len;

	OT_TRY(fl_trust_start());
	OT_TRY(fl_trusted_open(path, FL_FILE_SECRET, &fd));
	OT_TRY(ot_read_fd(fd, path, FILE_MAX, &text, &len));
	bool is_key = parse_seed(text, len, seed);

	sodium_memzero(text, len);
	if (!is_key)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s is not a secret key: outsight-serve --make-key makes one", path);
	crypto_sign_seed_keypair(ret->public, ret->secret, seed);
	sodium_memzero(seed, sizeof(seed));
	return NULL;
}

void fl_identity_wipe(struct fl_identity *id)
{
	sodium_memzero(id->secret, sizeof(id->secret));
}

void fl_public_text(const uint8_t key[FL_PUBLIC], char ret[FL_PUBLIC_TEXT])
{
	sodium_bin2base64(ret, FL_PUBLIC_TEXT, key, FL_PUBLIC, sodium_base64_VARIANT_ORIGINAL);
}

bool fl_public_parse(const char *text, uint8_t ret[FL_PUBLIC])
{
	uint8_t key[FL_PUBLIC];

	if (!decode(text, key, FL_PUBLIC))
		return false;
	memcpy(ret, key, FL_PUBLIC);
	return true;
}

bool fl_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > FL_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isascii((unsigned char)name[i]) ||
		    (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_'))
			return false;
	return name[0] != '-';
}
