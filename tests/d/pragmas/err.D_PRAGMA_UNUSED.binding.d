/* ASSERTION: so is a binding, even of a name that comes in another name space. */
#pragma D binding "1.2" mine
BEGIN { this->mine = 1; exit(0); }
