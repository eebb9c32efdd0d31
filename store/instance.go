package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"time"

	"github.com/maishell/maishell/audit"
)

// StatusInterrupted is the status of the event record that ends a call whose process died before it could record an
// outcome: the effect may or may not have happened.
const StatusInterrupted = "interrupted"

type instance struct {
	id        string
	pid       int
	startTime string
	firstSeq  int64
}

// deadInstance is one whose process is gone, with the records that end its open calls.
type deadInstance struct {
	id          string
	interrupted []audit.Record
}

// Begin lists this process as a running instance of some kind ("chat", "exec", ...) until Close and returns its id,
// for the records of its calls. It also ends the instances whose process is gone: their calls without an outcome get
// an event record with StatusInterrupted. Calling it again returns the same id.
func (s *Store) Begin(ctx context.Context, kind string) (string, error) {
	pid := os.Getpid()
	start, err := processStart(pid)
	if err != nil || start == "" {
		return "", &Error{Code: "store.no_start_time", Args: []any{pid}, Err: err}
	}
	if err := s.acquire(ctx); err != nil {
		return "", err
	}
	defer s.release()
	if s.instance != "" {
		return s.instance, nil
	}
	var dead []deadInstance
	err = patiently(ctx, func() (err error) {
		dead, err = s.dead(ctx)
		return err
	})
	if err != nil {
		return "", classify(s.path, err)
	}
	id := rand.Text()[:10]
	err = s.writeAcquired(ctx, func(ctx context.Context, a *appender) error {
		if err := a.refresh(ctx); err != nil {
			return err
		}
		for _, d := range dead {
			if err := s.bury(ctx, a, d); err != nil {
				return err
			}
		}
		_, err := s.conn.ExecContext(ctx,
			"INSERT INTO instances (id, pid, start_time, started_at, kind, first_seq) VALUES (?,?,?,?,?,?)",
			id, pid, start, time.Now().UnixMicro(), kind, a.head.Seq)
		return err
	})
	if err != nil {
		return "", err
	}
	s.instance = id
	return id, nil
}

// bury removes a dead instance and records what became of its calls, unless another process just did.
func (s *Store) bury(ctx context.Context, a *appender, d deadInstance) error {
	res, err := s.conn.ExecContext(ctx, "DELETE FROM instances WHERE id=?", d.id)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return err
	}
	for _, r := range d.interrupted {
		if _, err := a.append(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// dead finds the listed instances whose process is gone, and for each the records that end its open calls. Nobody
// writes records for them any more, so what is found here still holds when the write lock is taken.
func (s *Store) dead(ctx context.Context) ([]deadInstance, error) {
	all, err := s.instances(ctx)
	if err != nil {
		return nil, err
	}
	var dead []deadInstance
	for _, i := range all {
		start, err := processStart(i.pid)
		if err != nil {
			s.log.WarnContext(ctx, "cannot tell whether an instance still runs", "instance", i.id, "pid", i.pid, "err", err)
			continue
		}
		if start == i.startTime {
			continue
		}
		interrupted, err := s.openCalls(ctx, i)
		if err != nil {
			return nil, err
		}
		dead = append(dead, deadInstance{id: i.id, interrupted: interrupted})
	}
	return dead, nil
}

func (s *Store) instances(ctx context.Context) ([]instance, error) {
	var out []instance
	err := each(ctx, s.conn, "SELECT id, pid, start_time, first_seq FROM instances", nil, func(rows *sql.Rows) error {
		var i instance
		err := rows.Scan(&i.id, &i.pid, &i.startTime, &i.firstSeq)
		out = append(out, i)
		return err
	})
	return out, err
}

// openCalls returns the event records for the intents of i that nothing followed.
func (s *Store) openCalls(ctx context.Context, i instance) ([]audit.Record, error) {
	var order []string
	intents := map[string]audit.Record{}
	err := records(ctx, s.conn, "WHERE seq > ? AND instance = ? AND call IS NOT NULL ORDER BY seq",
		[]any{i.firstSeq, i.id}, func(r audit.Record) error {
			switch r.Kind {
			case audit.Intent:
				intents[r.Call] = r
				order = append(order, r.Call)
			case audit.Outcome:
				delete(intents, r.Call)
			}
			return nil
		})
	var out []audit.Record
	for _, call := range order {
		intent, open := intents[call]
		if !open {
			continue
		}
		out = append(out, audit.Record{
			Kind: audit.Event, Status: StatusInterrupted, Call: call, Instance: i.id,
			Caller: intent.Caller, Group: intent.Group, Role: intent.Role, Session: intent.Session,
			Parent: intent.Parent, Channel: intent.Channel, Tool: intent.Tool,
		})
	}
	return out, err
}

// endInstance removes our row, unless calls are still open. The caller owns s.writing.
func (s *Store) endInstance(ctx context.Context) error {
	if s.instance == "" {
		return nil
	}
	if len(s.open) > 0 {
		s.log.WarnContext(ctx, "closing with calls that have no outcome yet", "calls", len(s.open))
		return nil
	}
	return s.writeAcquired(ctx, func(ctx context.Context, _ *appender) error {
		_, err := s.conn.ExecContext(ctx, "DELETE FROM instances WHERE id=?", s.instance)
		if err == nil {
			_, err = s.conn.ExecContext(ctx, "DELETE FROM claims WHERE instance=?", s.instance)
		}
		return err
	})
}
