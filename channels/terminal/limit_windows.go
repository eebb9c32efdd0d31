package terminal

// typedLine: a console hands over lines whole.
const typedLine = 0
