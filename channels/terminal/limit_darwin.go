package terminal

// typedLine is what the kernel's terminal keeps of one line (MAX_CANON less the newline), in bytes. The rest of a longer
// line is thrown away without a sign.
const typedLine = 1023
