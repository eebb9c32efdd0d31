package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/maishell/maishell/audit"
)

// patience is how long a write waits for other processes.
const patience = 5 * time.Second

// patiently calls f again while another process is in the way, for at most patience or until ctx is done. SQLite's
// own waiting sleeps up to 100 ms at a time for locks that are held for some ten microseconds.
func patiently(ctx context.Context, f func() error) error {
	var deadline time.Time
	pause := 50 * time.Microsecond
	for {
		err := f()
		if !busy(err) {
			return err
		}
		now := time.Now()
		if deadline.IsZero() {
			deadline = now.Add(patience)
		} else if now.After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // spreads writers, keeps no secret
		}
		pause = min(2*pause, 5*time.Millisecond)
	}
}

// txn runs transactions on the one connection that writes.
type txn struct {
	begin, commit, rollback *sql.Stmt
}

func (t *txn) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	if t.begin, err = prepare(ctx, conn, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if t.commit, err = prepare(ctx, conn, "COMMIT"); err != nil {
		return err
	}
	t.rollback, err = prepare(ctx, conn, "ROLLBACK")
	return err
}

// prepare readies a statement, for which SQLite may have to read the schema.
func prepare(ctx context.Context, conn *sql.Conn, text string) (stmt *sql.Stmt, err error) {
	err = patiently(ctx, func() error {
		stmt, err = conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // the caller closes it
		return err
	})
	return stmt, err
}

// close must be called before the connection is closed: SQLite keeps a connection with open statements, its
// descriptors included.
func (t *txn) close() error { return closeAll(t.begin, t.commit, t.rollback) }

func closeAll(stmts ...*sql.Stmt) error {
	var errs []error
	for _, s := range stmts {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// run calls f inside a transaction that holds the write lock from its beginning. f gets a context that is never done:
// nothing inside waits for anyone, and the driver starts a goroutine for every statement with a context that can end.
func (t *txn) run(ctx context.Context, f func(ctx context.Context) error) (err error) {
	ctx = context.WithoutCancel(ctx)
	if _, err := t.begin.ExecContext(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// SQLite may have rolled back by itself already; then this fails and nothing is lost by it.
			_, _ = t.rollback.ExecContext(ctx)
		}
	}()
	if err := f(ctx); err != nil {
		return err
	}
	_, err = t.commit.ExecContext(ctx)
	return err
}

// write runs f in one transaction, again from the start while other processes are in the way, and afterwards brings
// up to date what is kept outside the database.
func (s *Store) write(ctx context.Context, f func(ctx context.Context, a *appender) error) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	return s.writeAcquired(ctx, f)
}

// acquire makes the caller the only one of this process that uses the writing connection.
func (s *Store) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.closed {
		s.release()
		return &Error{Code: "store.closed"}
	}
	return nil
}

func (s *Store) release() { <-s.writing }

func (s *Store) writeAcquired(ctx context.Context, f func(ctx context.Context, a *appender) error) error {
	var a *appender
	err := patiently(ctx, func() error {
		return s.tx.run(ctx, func(ctx context.Context) error {
			a = &appender{trail: &s.trail, head: s.trail.head, log: s.log}
			return f(ctx, a)
		})
	})
	if err != nil {
		return classify(s.path, err)
	}
	if a.head == s.trail.head {
		return nil
	}
	s.trail.head = a.head
	for _, r := range a.added {
		s.note(&r)
	}
	if err := s.heads.write(a.head); err != nil {
		s.log.WarnContext(ctx, "the copy of the audit head cannot be written", "err", err)
	}
	return nil
}

// note keeps track of our calls that have no outcome yet.
func (s *Store) note(r *audit.Record) {
	if r.Instance != s.instance || r.Call == "" {
		return
	}
	switch r.Kind {
	case audit.Intent:
		s.open[r.Call] = struct{}{}
	case audit.Outcome:
		delete(s.open, r.Call)
	}
}
