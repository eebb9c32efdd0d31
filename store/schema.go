package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings the database to the newest schema. Step n is the n-th file of migrations; user_version counts the
// steps taken. A database with more steps than this program knows is left alone.
func migrate(ctx context.Context, conn *sql.Conn, tx *txn, path string) error {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted by name
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	version, err := userVersion(ctx, conn)
	if err != nil {
		return err
	}
	switch {
	case version == len(files):
		return nil
	case version > len(files):
		return &Error{Code: "store.newer", Args: []any{path, version, len(files)}}
	case version == 0:
		// Both are properties of the file. Small pages: a record fills half of one, and each append logs two pages.
		for _, pragma := range []string{"PRAGMA page_size=2048", "PRAGMA journal_mode=WAL"} {
			if _, err := conn.ExecContext(ctx, pragma); err != nil {
				return err
			}
		}
	}
	return tx.run(ctx, func(ctx context.Context) error {
		// Another process may have been here between the first look and the lock.
		version, err := userVersion(ctx, conn)
		if err != nil {
			return err
		}
		for ; version < len(files); version++ {
			step, err := migrationFiles.ReadFile(files[version])
			if err != nil {
				return fmt.Errorf("store: %w", err)
			}
			if _, err := conn.ExecContext(ctx, string(step)); err != nil {
				return fmt.Errorf("%s: %w", files[version], err)
			}
			if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", version+1)); err != nil {
				return err
			}
		}
		return nil
	})
}

func userVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var v int
	err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}
