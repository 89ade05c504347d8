/* ASSERTION: without -C there is no #include. */
#include <stdint.h>
BEGIN { exit(0); }
