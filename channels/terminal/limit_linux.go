package terminal

// typedLine is what the kernel's terminal keeps of one line (N_TTY_BUF_SIZE less the newline), in bytes. The rest of a
// longer line is thrown away without a sign.
const typedLine = 4095
