package app

// needsTerm: a console is what it is, whatever TERM says.
const needsTerm = false
