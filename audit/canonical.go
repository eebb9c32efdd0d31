package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const encodingName = "maishell audit 1\n"

// Seal makes r the record after the one whose hash is prev: it sets Prev and Hash over everything else, Seq and Time
// included, so those must be final. It first brings r into the one form that survives JSON and a database unchanged:
// time in UTC to the microsecond, valid UTF-8, arguments as compact JSON (text that is not JSON becomes a JSON
// string).
func Seal(prev string, r Record) Record {
	r = normal(r)
	r.Prev = prev
	r.Hash = hash(&r)
	return r
}

func normal(r Record) Record {
	r.Time = r.Time.UTC().Truncate(time.Microsecond)
	for _, s := range []*string{
		(*string)(&r.Kind), &r.Call, &r.Instance, &r.Caller, &r.Group, &r.Role, &r.Session, &r.Parent, &r.Channel,
		&r.Tool, &r.Command, &r.Cwd, &r.Verdict, &r.Rule, &r.Reason, &r.Status, &r.Detail,
	} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	if len(r.Effects) > 0 {
		effects := make([]string, len(r.Effects))
		for i, e := range r.Effects {
			effects[i] = strings.ToValidUTF8(e, "\uFFFD")
		}
		r.Effects = effects
	}
	r.Args = normalArgs(r.Args)
	return r
}

// normalArgs returns what json.Marshal makes of the arguments, because that is what an export writes.
func normalArgs(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	valid := bytes.ToValidUTF8(args, []byte("\uFFFD"))
	if out, err := json.Marshal(json.RawMessage(valid)); err == nil {
		return out
	}
	out, err := json.Marshal(string(valid))
	if err != nil {
		return nil // cannot happen: a string always marshals
	}
	return out
}

// hash is computed over the record as it stands: what was changed after sealing must show, so nothing is normalised.
func hash(r *Record) string {
	sum := sha256.Sum256(canonical(r))
	return hex.EncodeToString(sum[:])
}

// canonical is the encoding that doc.go describes. New fields go to the end, whatever their place in Record.
func canonical(r *Record) []byte {
	b := make([]byte, 0, 1024+len(r.Command)+len(r.Args)+len(r.Detail))
	b = append(b, encodingName...)
	b = entry(b, "seq", strconv.FormatInt(r.Seq, 10))
	b = entry(b, "time", strconv.FormatInt(r.Time.UnixMicro(), 10))
	b = entry(b, "kind", string(r.Kind))
	b = entry(b, "call", r.Call)
	b = entry(b, "instance", r.Instance)
	b = entry(b, "caller", r.Caller)
	b = entry(b, "group", r.Group)
	b = entry(b, "role", r.Role)
	b = entry(b, "session", r.Session)
	b = entry(b, "parent", r.Parent)
	b = entry(b, "channel", r.Channel)
	b = entry(b, "tool", r.Tool)
	b = entry(b, "effects", list(r.Effects))
	b = entry(b, "command", r.Command)
	b = entry(b, "cwd", r.Cwd)
	b = entry(b, "args", string(r.Args))
	b = entry(b, "verdict", r.Verdict)
	b = entry(b, "rule", r.Rule)
	b = entry(b, "reason", r.Reason)
	b = entry(b, "status", r.Status)
	if r.ExitCode != nil {
		b = entry(b, "exit_code", strconv.Itoa(*r.ExitCode))
	}
	b = entry(b, "detail", r.Detail)
	return entry(b, "prev", r.Prev)
}

func entry(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, name...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(value)), 10)
	b = append(b, ':')
	b = append(b, value...)
	return append(b, '\n')
}

func list(items []string) string {
	var b []byte
	for _, item := range items {
		b = strconv.AppendInt(b, int64(len(item)), 10)
		b = append(b, ':')
		b = append(b, item...)
	}
	return string(b)
}
