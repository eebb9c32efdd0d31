package keys

// Error is a code with parameters; the code is a message id of the texts catalog.
type Error struct {
	Code string // one of the codes below
	Args []any
}

func (e *Error) Error() string { return e.Code }

// TextID returns the message id and its values.
func (e *Error) TextID() (string, []any) { return e.Code, e.Args }

// Codes of Error.
const (
	codeUnknown  = "executor_keys.unknown"  // name, the nearest names
	codeModifier = "executor_keys.modifier" // name: that key has no form with these modifiers
	codeHex      = "executor_keys.hex"      // name
	codeMany     = "executor_keys.many"     // number given, most allowed
	codeText     = "executor_keys.text"     // length in bytes, most allowed
)
