/*
 * ASSERTION: A speculation that nobody commits shows nothing; neither does a clause that speculates count as a record.
 */
BEGIN { spec = speculation(); }
BEGIN { speculate(spec); trace("lost"); }
BEGIN { exit(0); }
