package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/maishell/maishell/agent"
)

// maxLoaded is how many messages of a conversation Load gives at most; a model could not be shown more.
const maxLoaded = 5000

// LoadHistory gives the newest messages of a conversation, oldest first; none for a session that is not known.
func (s *Store) LoadHistory(ctx context.Context, session string) (out []agent.Step, err error) {
	err = s.reading(ctx, func() error {
		out = nil
		return each(ctx, s.readers, "SELECT role, json, time FROM messages WHERE session = ? ORDER BY seq DESC LIMIT ?",
			[]any{session, maxLoaded}, func(rows *sql.Rows) error {
				var step agent.Step
				var text string
				var at int64
				if err := rows.Scan(&step.Role, &text, &at); err != nil {
					return err
				}
				step.JSON, step.Time = []byte(text), time.UnixMicro(at).UTC()
				out = append(out, step)
				return nil
			})
	})
	slices.Reverse(out)
	return out, err
}

// AppendHistory adds messages to the end of a conversation and commits them together.
func (s *Store) AppendHistory(ctx context.Context, session string, steps []agent.Step) error {
	return s.write(ctx, func(ctx context.Context, _ *appender) error {
		for _, step := range steps {
			at := step.Time
			if at.IsZero() {
				at = time.Now()
			}
			_, err := s.conn.ExecContext(ctx,
				"INSERT INTO messages SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4 FROM messages WHERE session = ?1",
				session, step.Role, string(step.JSON), at.UnixMicro())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TrimHistory removes all but the newest keep messages of a conversation.
func (s *Store) TrimHistory(ctx context.Context, session string, keep int) error {
	return s.write(ctx, func(ctx context.Context, _ *appender) error {
		_, err := s.conn.ExecContext(ctx,
			`DELETE FROM messages WHERE session = ?1 AND seq <= (
			   SELECT seq FROM messages WHERE session = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, session, max(0, keep))
		return err
	})
}

// Spend adds to the tokens of a day and returns its total. It implements llm.Spender.
func (s *Store) Spend(ctx context.Context, day string, tokens int) (total int64, err error) {
	if tokens == 0 {
		err = s.reading(ctx, func() error {
			err := s.readers.QueryRowContext(ctx, "SELECT spent FROM tokens WHERE day = ?", day).Scan(&total)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		})
		return total, err
	}
	err = s.write(ctx, func(ctx context.Context, _ *appender) error {
		return s.conn.QueryRowContext(ctx,
			"INSERT INTO tokens VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET spent = spent + ?2 RETURNING spent",
			day, tokens).Scan(&total)
	})
	return total, err
}

// reading runs a query on the connections that only read, again while another process is in the way.
func (s *Store) reading(ctx context.Context, f func() error) error {
	if err := patiently(ctx, f); err != nil {
		return classify(s.path, err)
	}
	return nil
}
