package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/audit"
)

// Filter selects records. A zero field selects everything; set ones must all match, and exactly unless said otherwise.
type Filter struct {
	Call     string
	Caller   string // platform:user_id
	Session  string
	Tool     string
	Verdict  string
	Kind     audit.Kind
	Since    time.Time // at or after
	Until    time.Time // before
	Text     string    // occurs in command, arguments, rule, reason or detail; ASCII letters in either case
	AfterSeq int64     // later than this record
	Limit    int       // 0: 100; negative: all
}

const defaultLimit = 100

// List returns the records that f selects, oldest first. When there are more than Limit: the oldest after AfterSeq if
// that is set, else the newest.
func (s *Store) List(ctx context.Context, f Filter) ([]audit.Record, error) {
	where, args := f.where()
	limit := f.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	forward := f.AfterSeq > 0
	order := " ORDER BY seq DESC LIMIT ?"
	if forward {
		order = " ORDER BY seq LIMIT ?"
	}
	var out []audit.Record
	err := s.records(ctx, where+order, append(args, limit), func(r audit.Record) error {
		out = append(out, r)
		return nil
	})
	if err != nil {
		return nil, classify(s.path, err)
	}
	if !forward {
		slices.Reverse(out)
	}
	return out, nil
}

func (f *Filter) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, arg any) {
		conds = append(conds, cond)
		args = append(args, arg)
	}
	for _, c := range []struct{ column, want string }{
		{"call", f.Call}, {"caller", f.Caller}, {"session", f.Session}, {"tool", f.Tool}, {"verdict", f.Verdict},
		{"kind", string(f.Kind)},
	} {
		if c.want != "" {
			add(c.column+" = ?", c.want)
		}
	}
	if !f.Since.IsZero() {
		add("time >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		add("time < ?", f.Until.UnixMicro())
	}
	if f.AfterSeq > 0 {
		add("seq > ?", f.AfterSeq)
	}
	if f.Text != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
		var any []string
		for _, column := range []string{"command", "args", "rule", "reason", "detail"} {
			any = append(any, column+` LIKE ? ESCAPE '\'`)
			args = append(args, pattern)
		}
		conds = append(conds, "("+strings.Join(any, " OR ")+")")
	}
	if len(conds) == 0 {
		return "", nil
	}
	return "WHERE " + strings.Join(conds, " AND "), args
}

// Get returns one record, or an error that wraps ErrNotFound.
func (s *Store) Get(ctx context.Context, seq int64) (audit.Record, error) {
	var found []audit.Record
	err := s.records(ctx, "WHERE seq = ?", []any{seq}, func(r audit.Record) error {
		found = append(found, r)
		return nil
	})
	if err != nil {
		return audit.Record{}, classify(s.path, err)
	}
	if len(found) == 0 {
		return audit.Record{}, &Error{Code: "store.no_record", Args: []any{seq}, Err: ErrNotFound}
	}
	return found[0], nil
}

// Export writes all records, oldest first, one JSON object a line. The lines carry everything the hash chain is
// computed over.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	var writeErr error
	err := s.records(ctx, "ORDER BY seq", nil, func(r audit.Record) error {
		writeErr = enc.Encode(r)
		return writeErr
	})
	if writeErr != nil {
		return fmt.Errorf("exporting the audit trail: %w", writeErr)
	}
	return classify(s.path, err)
}

// Report is what Verify found.
type Report struct {
	audit.Report
	// HeadFile says how the copy of the head outside the database stands: "ok", "missing" (never written, or removed)
	// or "unreadable". Only "ok" protects against a database that was replaced as a whole.
	HeadFile string `json:"head_file"`
}

// Verify reads the whole trail and checks the chain, the head that the database keeps and the one outside it. An
// error means that it could not be read to its end, which for "store.corrupt" is a finding too.
func (s *Store) Verify(ctx context.Context) (Report, error) {
	var v audit.Verifier
	report := Report{HeadFile: "ok"}
	// Read before the database is, the copy cannot be ahead of it by what is committed meanwhile.
	kept, err := s.heads.read()
	switch {
	case err != nil:
		report.HeadFile = "unreadable"
	case kept == audit.Head{}:
		report.HeadFile = "missing"
	default:
		v.Expect(kept, false)
	}
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one state for both tables
	if err != nil {
		return report, classify(s.path, err)
	}
	defer func() { _ = tx.Rollback() }()
	var head audit.Head
	if err := tx.QueryRowContext(ctx, "SELECT seq, hash FROM head").Scan(&head.Seq, &head.Hash); err != nil {
		return report, classify(s.path, err)
	}
	v.Expect(head, true)
	err = records(ctx, tx, "ORDER BY seq", nil, func(r audit.Record) error {
		v.Add(r)
		return nil
	})
	report.Report = v.Report()
	return report, classify(s.path, err)
}

// records calls f for every record that the rest of the statement selects.
func (s *Store) records(ctx context.Context, rest string, args []any, f func(audit.Record) error) error {
	return records(ctx, s.readers, rest, args, f)
}

func records(ctx context.Context, q querier, rest string, args []any, f func(audit.Record) error) error {
	return each(ctx, q, "SELECT "+columns+" FROM audit "+rest, args, func(rows *sql.Rows) error {
		r, err := scanRecord(rows)
		if err != nil {
			return err
		}
		return f(r)
	})
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func each(ctx context.Context, q querier, text string, args []any, f func(*sql.Rows) error) (err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
