/* ASSERTION: A clause that speculates needs room in the principal buffer too. */
#pragma D option bufsize=64
BEGIN { spec = speculation(); }
BEGIN { speculate(spec); trace("a string takes strsize bytes"); }
BEGIN { exit(0); }
