package texts

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

//go:embed en/*.toml zh/*.toml
var files embed.FS

// Catalog words messages in one language. It is safe for concurrent use. A nil *Catalog answers every id with the id
// itself.
type Catalog struct {
	lang    string
	tag     language.Tag
	texts   map[string]string
	builder *catalog.Builder // filled as messages are used: a start needs a few of them
	ready   sync.Map         // ids that builder has
	printer *message.Printer
}

// New loads the catalog of a language: "en" or "zh", nothing else.
func New(lang string) (*Catalog, error) {
	if lang != "en" && lang != "zh" {
		return nil, fmt.Errorf("unknown language %q: want en or zh", lang)
	}
	msgs, err := load(files, lang)
	if err != nil {
		return nil, err
	}
	tag := language.Make(lang)
	b := catalog.NewBuilder(catalog.Fallback(tag))
	return &Catalog{lang: lang, tag: tag, texts: msgs, builder: b, printer: message.NewPrinter(tag, message.Catalog(b))}, nil
}

// load reads every file of a language into one map from message id to text. An id that is defined twice is an error.
func load(fsys fs.FS, lang string) (map[string]string, error) {
	names, err := fs.Glob(fsys, lang+"/*.toml")
	if err != nil {
		return nil, fmt.Errorf("texts %s: %w", lang, err)
	}
	msgs := make(map[string]string, 512)
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("texts: %w", err)
		}
		if err := parse(data, msgs); err != nil {
			return nil, fmt.Errorf("texts %s: %w", name, err)
		}
	}
	return msgs, nil
}

// parse adds the messages of one file to msgs. It walks the file with the library's parser, which takes half the time
// of decoding into maps.
func parse(data []byte, msgs map[string]string) error {
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		key, plain := bareKey(e)
		switch {
		case e.Kind == unstable.Table && plain:
			table = key
			continue
		case e.Kind != unstable.KeyValue || !plain || table == "" || e.Value().Kind != unstable.String:
			return fmt.Errorf("%q: want [table] and key = \"text\" only", key)
		}
		id := table + "." + key
		if _, dup := msgs[id]; dup {
			return fmt.Errorf("%s is defined twice", id)
		}
		msgs[id] = string(e.Value().Data)
	}
	return p.Error()
}

// bareKey is the key of a table or value; it is not plain when it has several parts or none.
func bareKey(e *unstable.Node) (key string, plain bool) {
	if e.Kind != unstable.Table && e.Kind != unstable.KeyValue {
		return "", false
	}
	parts := 0
	for it := e.Key(); it.Next(); parts++ {
		key = string(it.Node().Data)
	}
	return key, parts == 1
}

// Lang returns "en" or "zh".
func (c *Catalog) Lang() string {
	if c == nil {
		return "en"
	}
	return c.lang
}

// Say words the message id with args for its placeholders. Args are turned into strings first, so that a number is
// never grouped or localised. An unknown id comes back as it is, so that the gap is seen.
func (c *Catalog) Say(id string, args ...any) string {
	if c == nil {
		return id
	}
	text, ok := c.texts[id]
	if !ok {
		return id
	}
	if _, ok := c.ready.Load(id); !ok {
		if err := c.builder.SetString(c.tag, id, text); err != nil {
			return id // not reached: a test holds that every text compiles
		}
		c.ready.Store(id, struct{}{})
	}
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = fmt.Sprint(a)
	}
	return c.printer.Sprintf(id, words...)
}

// worded is an error that names the message to show for it.
type worded interface {
	error
	TextID() (id string, args []any)
}

// Error words err: the message of the first error in its chain that has a text id, else err.Error() with what the
// operating system said in it worded. Where the chain
// forks into several errors, each is worded on a line of its own. An arg that is itself an error is worded too. A nil
// err is the empty string.
func (c *Catalog) Error(err error) string {
	if err == nil {
		return ""
	}
	if said := c.word(err); said != "" {
		return said
	}
	return c.plain(err)
}

// Arity is how many values the message id takes. It is not ok when there is no such message.
func (c *Catalog) Arity(id string) (n int, ok bool) {
	if c == nil {
		return 0, false
	}
	text, ok := c.texts[id]
	for strings.Contains(text, "%["+strconv.Itoa(n+1)+"]s") {
		n++
	}
	return n, ok
}

// word is Error, but empty when nothing in the chain has a text id.
func (c *Catalog) word(err error) string {
	for err != nil {
		var link any = err // not errors.As: it would look past a fork
		if w, ok := link.(worded); ok {
			if id, args := w.TextID(); id != "" {
				return c.Say(id, c.wordArgs(args)...)
			}
		}
		switch e := link.(type) {
		case interface{ Unwrap() []error }:
			return c.wordAll(e.Unwrap())
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return ""
		}
	}
	return ""
}

func (c *Catalog) wordAll(errs []error) string {
	lines := make([]string, 0, len(errs))
	found := false
	for _, e := range errs {
		if e == nil {
			continue
		}
		said := c.word(e)
		found = found || said != ""
		if said == "" {
			said = c.plain(e)
		}
		lines = append(lines, said)
	}
	if !found {
		return ""
	}
	return strings.Join(lines, "\n")
}

func (c *Catalog) wordArgs(args []any) []any {
	words := make([]any, len(args))
	for i, a := range args {
		if e, ok := a.(error); ok && e != nil {
			a = c.Error(e)
		}
		words[i] = a
	}
	return words
}
