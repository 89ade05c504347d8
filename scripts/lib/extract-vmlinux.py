#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""extract-vmlinux.py BZIMAGE OUT: the ELF kernel inside a compressed x86 boot image.

The image's header (the x86 boot protocol) says where the compressed payload is and how long; its first bytes
say how it was compressed.
"""
import lzma
import gzip
import struct
import subprocess
import sys

LZ4_LEGACY = b"\x02\x21\x4c\x18"
ZSTD = b"\x28\xb5\x2f\xfd"


def payload_of(image):
    if len(image) < 0x250 or image[0x202:0x206] != b"HdrS":
        raise ValueError("not a bzImage")
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    if length == 0 or start + length > len(image):
        raise ValueError("the payload lies outside the file")
    return image[start:start + length]


def run(command, data):
    # The kernel appends its length to the payload: decompressors complain about that after writing all.
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout


def decompress(payload):
    if payload.startswith(LZ4_LEGACY):
        return run(["lz4", "-dc", "-"], payload[:-4])
    if payload.startswith(ZSTD):
        return run(["zstd", "-dcq"], payload[:-4])
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return gzip.decompress(payload[:-4])
    if payload.startswith(b"\x7fELF"):
        return payload
    raise ValueError(f"unknown compression {payload[:6].hex()}")


def main(argv):
    if len(argv) != 3:
        print("usage: extract-vmlinux.py BZIMAGE OUT", file=sys.stderr)
        return 2
    try:
        with open(argv[1], "rb") as f:
            elf = decompress(payload_of(f.read()))
        if not elf.startswith(b"\x7fELF"):
            raise ValueError("no ELF file came out of the payload")
        with open(argv[2], "wb") as f:
            f.write(elf)
    except (OSError, ValueError) as e:
        print(f"extract-vmlinux: {argv[1]}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
