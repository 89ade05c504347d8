# Each dependency, and the Debian package that has it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone) # libcapstone-dev
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)     # libelf-dev
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)       # libdw-dev
pkg_check_modules(LIBSECCOMP REQUIRED IMPORTED_TARGET libseccomp) # libseccomp-dev
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)       # libexpat1-dev
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw) # libncurses-dev
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)     # libcmocka-dev
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)         # zlib1g-dev; these four unpack kernel images
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)      # liblzma-dev
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)      # libzstd-dev
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)        # liblz4-dev
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)  # libsodium-dev
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd) # libmicrohttpd-dev
# Headers only: both are loaded when a domain of libvirt's is asked about (vmm-probe/machines/libs.h).
pkg_check_modules(LIBVIRT REQUIRED libvirt)                   # libvirt-dev
pkg_check_modules(LIBXML2 REQUIRED libxml-2.0)                # libxml2-dev
# Headers only as well: loaded where a broker is (fleet/link/nats_library.h), by the name that the linker would note.
pkg_check_modules(LIBNATS REQUIRED libnats)                   # libnats-dev
