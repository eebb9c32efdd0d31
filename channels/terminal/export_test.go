package terminal

// TypedLine is typedLine for the tests.
const TypedLine = typedLine
