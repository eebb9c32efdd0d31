package store

import (
	"context"
	"database/sql"
	"errors"
)

// Claim reserves a conversation for this process until Close, so that two processes do not write it in turns. It fails
// with store.session_open while another living instance has it; a dead one's claim is taken over. Begin comes first.
func (s *Store) Claim(ctx context.Context, session string) error {
	return s.write(ctx, func(ctx context.Context, _ *appender) error {
		var instance, start string
		var pid int
		err := s.conn.QueryRowContext(ctx, `SELECT i.id, i.pid, i.start_time FROM claims c JOIN instances i ON i.id = c.instance
			WHERE c.session = ?`, session).Scan(&instance, &pid, &start)
		switch {
		case err == nil && instance != s.instance:
			now, err := processStart(pid)
			if err != nil || now == start { // who cannot be told to be dead is alive
				return &Error{Code: "store.session_open", Args: []any{session, pid}}
			}
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		_, err = s.conn.ExecContext(ctx, "INSERT OR REPLACE INTO claims (session, instance) VALUES (?,?)", session, s.instance)
		return err
	})
}
