package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/maishell/maishell/audit"
)

// columns are the columns of the table audit in the order of insertArgs and scanRecord.
const (
	columns = `seq, time, kind, call, instance, caller, "group", role, session, parent, channel, tool, effects, ` +
		`command, cwd, args, verdict, rule, reason, status, exit_code, detail, prev, hash`
	columnCount = 24
)

// trail holds the statements that append, and the head as this process last saw it.
type trail struct {
	head                             audit.Head
	advance, current, insert, hashOf *sql.Stmt
}

func (t *trail) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	if t.advance, err = prepare(ctx, conn, "UPDATE head SET seq=?1, hash=?2 WHERE seq=?3 AND hash=?4"); err != nil {
		return err
	}
	if t.current, err = prepare(ctx, conn, "SELECT seq, hash FROM head"); err != nil {
		return err
	}
	if t.hashOf, err = prepare(ctx, conn, "SELECT hash FROM audit WHERE seq=?"); err != nil {
		return err
	}
	t.insert, err = prepare(ctx, conn, "INSERT INTO audit ("+columns+") VALUES (?"+
		strings.Repeat(",?", columnCount-1)+")")
	return err
}

func (t *trail) close() error { return closeAll(t.advance, t.current, t.insert, t.hashOf) }

var errNoHead = errors.New("the table head has lost its row")

// appender adds records within one transaction.
type appender struct {
	trail *trail
	head  audit.Head // as it will be after the commit
	added []audit.Record
	log   *slog.Logger
}

// append seals r and inserts it. It first takes the head for granted as this process last saw it, which saves the
// question when nobody else wrote in between.
func (a *appender) append(ctx context.Context, r audit.Record) (audit.Record, error) {
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	sealed, moved, err := a.advance(ctx, r)
	if err == nil && !moved {
		if err = a.refresh(ctx); err == nil {
			sealed, moved, err = a.advance(ctx, r)
		}
	}
	if err != nil {
		return audit.Record{}, err
	}
	if !moved {
		return audit.Record{}, errNoHead
	}
	if _, err := a.trail.insert.ExecContext(ctx, insertArgs(&sealed)...); err != nil {
		return audit.Record{}, err
	}
	a.added = append(a.added, sealed)
	return sealed, nil
}

// advance moves the head from where we think it is to r.
func (a *appender) advance(ctx context.Context, r audit.Record) (sealed audit.Record, moved bool, err error) {
	r.Seq = a.head.Seq + 1
	sealed = audit.Seal(a.head.Hash, r)
	res, err := a.trail.advance.ExecContext(ctx, sealed.Seq, sealed.Hash, a.head.Seq, a.head.Hash)
	if err != nil {
		return sealed, false, err
	}
	n, err := res.RowsAffected()
	if err != nil || n != 1 {
		return sealed, false, err
	}
	a.head = audit.Head{Seq: sealed.Seq, Hash: sealed.Hash}
	return sealed, true, nil
}

// refresh reads the head. A database without a record that we know was committed has lost records; the trail goes on
// from where it is now, so the loss itself is recorded before anything else is.
func (a *appender) refresh(ctx context.Context) error {
	known := a.head
	if err := a.trail.current.QueryRowContext(ctx).Scan(&a.head.Seq, &a.head.Hash); err != nil {
		return err
	}
	if a.head == known {
		return nil
	}
	if a.head.Seq > known.Seq {
		if there, err := a.holds(ctx, known); err != nil || there {
			return err
		}
	}
	a.log.ErrorContext(ctx, "audit records were lost", "known", known.Seq, "found", a.head.Seq)
	_, err := a.append(ctx, audit.Loss(known))
	return err
}

// holds reports whether the trail still has the record that h names. Others may have written behind it.
func (a *appender) holds(ctx context.Context, h audit.Head) (bool, error) {
	if h.Seq == 0 {
		return true, nil
	}
	var hash string
	err := a.trail.hashOf.QueryRowContext(ctx, h.Seq).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return hash == h.Hash, err
}

func insertArgs(r *audit.Record) []any {
	var effects, code any
	if len(r.Effects) > 0 {
		text, err := json.Marshal(r.Effects)
		if err == nil { // strings always marshal
			effects = string(text)
		}
	}
	if r.ExitCode != nil {
		code = *r.ExitCode
	}
	return []any{
		r.Seq, r.Time.UnixMicro(), string(r.Kind), null(r.Call), null(r.Instance), null(r.Caller), null(r.Group),
		null(r.Role), null(r.Session), null(r.Parent), null(r.Channel), null(r.Tool), effects, null(r.Command),
		null(r.Cwd), null(string(r.Args)), null(r.Verdict), null(r.Rule), null(r.Reason), null(r.Status), code,
		null(r.Detail), null(r.Prev), r.Hash,
	}
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// scanRecord reads the columns of one row. What cannot be read as it was written is kept as it is, so that the
// record's hash shows the change.
func scanRecord(rows *sql.Rows) (audit.Record, error) {
	var r audit.Record
	var micros int64
	var text [columnCount]sql.NullString
	var code sql.NullInt64
	dest := make([]any, columnCount)
	for i := range dest {
		dest[i] = &text[i]
	}
	const seq, at, exitCode = 0, 1, 20
	dest[seq], dest[at], dest[exitCode] = &r.Seq, &micros, &code
	if err := rows.Scan(dest...); err != nil {
		return r, err
	}
	r.Time = time.UnixMicro(micros).UTC()
	r.Kind = audit.Kind(text[2].String)
	for i, field := range []*string{
		&r.Call, &r.Instance, &r.Caller, &r.Group, &r.Role, &r.Session, &r.Parent, &r.Channel, &r.Tool,
	} {
		*field = text[3+i].String
	}
	if effects := text[12]; effects.Valid {
		if err := json.Unmarshal([]byte(effects.String), &r.Effects); err != nil {
			r.Effects = []string{effects.String}
		}
	}
	r.Command, r.Cwd = text[13].String, text[14].String
	if args := text[15]; args.Valid {
		r.Args = json.RawMessage(args.String)
	}
	r.Verdict, r.Rule, r.Reason, r.Status = text[16].String, text[17].String, text[18].String, text[19].String
	if code.Valid {
		n := int(code.Int64)
		r.ExitCode = &n
	}
	r.Detail, r.Prev, r.Hash = text[21].String, text[22].String, text[23].String
	return r, nil
}
