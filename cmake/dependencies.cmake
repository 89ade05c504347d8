# Each dependency, and the Debian package that has it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone) # libcapstone-dev
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)     # libelf-dev
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)     # libcmocka-dev
