/*
 * ASSERTION: An uncommitted speculation prints nothing; a clause that speculates is not counted as a record.
 */
BEGIN { spec = speculation(); }
BEGIN { speculate(spec); trace("lost"); }
BEGIN { exit(0); }
