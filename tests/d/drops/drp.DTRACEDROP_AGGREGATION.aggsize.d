/* ASSERTION: A key that finds no room in the aggregation buffer is an aggregation drop. */
#pragma D option aggsize=512
BEGIN { @n["one", 1] = count(); @n["two", 2] = count(); @n["three", 3] = count(); }
BEGIN { exit(0); }
