package scripts

import (
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// The bounds of what scripts keep, in entries and bytes.
const (
	maxEntries = 4096
	maxKey     = 256
	maxValue   = 4 << 10
)

// KV is what mai.kv keeps: small values in memory, for one run of the program, each script its own. It outlives a
// reload when the next set is given the same KV. It is safe for concurrent use.
type KV struct {
	mu      sync.Mutex
	entries map[kvKey]kvEntry
}

type kvKey struct{ script, key string }

type kvEntry struct {
	value any       // string, float64 or bool
	ends  time.Time // zero: never
}

// NewKV makes an empty one.
func NewKV() *KV { return &KV{entries: map[kvKey]kvEntry{}} }

func (e kvEntry) gone(now time.Time) bool { return !e.ends.IsZero() && !now.Before(e.ends) }

func (kv *KV) get(k kvKey, now time.Time) any {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	e, ok := kv.entries[k]
	if !ok || e.gone(now) {
		return nil
	}
	return e.value
}

// put keeps an entry; it is false when there is no room.
func (kv *KV) put(k kvKey, e kvEntry, now time.Time) bool {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	return kv.putLocked(k, e, now)
}

func (kv *KV) putLocked(k kvKey, e kvEntry, now time.Time) bool {
	if _, ok := kv.entries[k]; !ok && len(kv.entries) >= maxEntries {
		for old, entry := range kv.entries {
			if entry.gone(now) {
				delete(kv.entries, old)
			}
		}
		if len(kv.entries) >= maxEntries {
			return false
		}
	}
	kv.entries[k] = e
	return true
}

// add changes a number and returns it. Its end is set when it begins, not when it grows.
func (kv *KV) add(k kvKey, by float64, ends, now time.Time) (float64, bool) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	e, ok := kv.entries[k]
	if n, isNumber := e.value.(float64); ok && isNumber && !e.gone(now) {
		e.value = n + by
	} else {
		e = kvEntry{value: by, ends: ends}
	}
	return e.value.(float64), kv.putLocked(k, e, now)
}

func (kv *KV) remove(k kvKey) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	delete(kv.entries, k)
}

// kvFunctions are get(key), set(key, value [, seconds]), add(key, number [, seconds]) and delete(key).
func (m *machine) kvFunctions() map[string]lua.LValue {
	key := func(l *lua.LState) (*run, kvKey) {
		r := m.inHook(l, "mai.kv")
		k := l.CheckString(1)
		if len(k) > maxKey {
			l.RaiseError("mai.kv: a key has at most %d bytes", maxKey)
		}
		m.Budget.Charge(l, 64)
		return r, kvKey{r.script.name, k}
	}
	return map[string]lua.LValue{
		"get": m.Func(func(l *lua.LState) int {
			r, k := key(l)
			switch v := r.env.kv.get(k, r.env.now()).(type) {
			case string:
				l.Push(lua.LString(v))
			case float64:
				l.Push(lua.LNumber(v))
			case bool:
				l.Push(lua.LBool(v))
			default:
				l.Push(lua.LNil)
			}
			return 1
		}),
		"set": m.Func(func(l *lua.LState) int {
			r, k := key(l)
			now := r.env.now()
			e := kvEntry{ends: ends(l, 3, now)}
			switch v := l.CheckAny(2).(type) {
			case lua.LString:
				if len(v) > maxValue {
					l.RaiseError("mai.kv: a text has at most %d bytes", maxValue)
				}
				e.value = string(v)
			case lua.LNumber:
				e.value = float64(v)
			case lua.LBool:
				e.value = bool(v)
			default:
				l.RaiseError("mai.kv keeps texts, numbers and booleans, not a %s", v.Type())
			}
			full(l, r.env.kv.put(k, e, now))
			return 0
		}),
		"add": m.Func(func(l *lua.LState) int {
			r, k := key(l)
			now := r.env.now()
			n, ok := r.env.kv.add(k, float64(l.CheckNumber(2)), ends(l, 3, now), now)
			full(l, ok)
			l.Push(lua.LNumber(n))
			return 1
		}),
		"delete": m.Func(func(l *lua.LState) int {
			r, k := key(l)
			r.env.kv.remove(k)
			return 0
		}),
	}
}

func ends(l *lua.LState, n int, now time.Time) time.Time {
	seconds := float64(l.OptNumber(n, 0))
	if seconds <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(seconds, 1e9) * float64(time.Second)))
}

func full(l *lua.LState, ok bool) {
	if !ok {
		l.RaiseError("mai.kv is full (%d entries); give entries an end", maxEntries)
	}
}
