/* ASSERTION: The condition of ?: is a scalar. */
struct s { int a; } v;
BEGIN { x = v ? 1 : 2; }
