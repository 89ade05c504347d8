// ASSERTION: // begins a comment that ends with its line, between any two tokens; not in a string, and not
// where a predicate's end has a comment behind it. /* is nothing in it, nor is */
#pragma D option quiet
//
int n; //*** a declaration ***
BEGIN // "probe
/n == 0/ // predicate
{ // '
	n = 6 // trace(1);
	    - 2;
	printf("%d // %s\n", n, "//"); // exit(1);
	/* inside // */ n++;
} // }
BEGIN /n == 5//* and no division */ { trace(n); }
BEGIN // on
/ // its
n == 5 // own
/ // line
{ trace("\n"); exit(0); }
// the end