/* ASSERTION: A struct that is no element and not thread-local has nothing to free: 0 cannot be assigned to it. */
struct point { int x; int y; };
struct point p;
BEGIN { p = 0; }
