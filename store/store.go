package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/maishell/maishell/audit"
)

// Options say where the store is.
type Options struct {
	Dir    string       // made 0700 when missing; required
	Logger *slog.Logger // nil: nothing is logged
}

// Store is an open database. It is safe for concurrent use, by any number of processes at once.
type Store struct {
	path string
	log  *slog.Logger

	// writing has room for one: who put a value in it owns the fields below it until they take it out again.
	writing  chan struct{}
	closed   bool
	db       *sql.DB
	conn     *sql.Conn
	tx       txn
	trail    trail
	heads    *headFile
	instance string
	open     map[string]struct{} // calls of our instance with an intent and no outcome yet

	readers *sql.DB // connects when first used
}

// Open opens or creates the store. Errors are *Error: the directory or file is not ours or cannot be made private,
// the database was written by a newer program (nothing is touched then), is corrupt, or cannot be written.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, &Error{Code: "store.no_dir"}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	s := &Store{
		path:    filepath.Join(dir, databaseName),
		log:     o.Logger,
		writing: make(chan struct{}, 1),
		open:    map[string]struct{}{},
	}
	if err := prepareFile(s.path); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		_ = s.disconnect()
		return nil, classify(s.path, err)
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context) (err error) {
	// Closing any descriptor of the file, even one that a tool used to read it, would silently drop this process's
	// POSIX locks on it. Where the system lacks the better kind of lock, the ordinary one has to do.
	_, _ = sqlite.OFDLocking(true)
	// synchronous=NORMAL in WAL mode: a commit survives the death of the process, not always that of the machine.
	if s.db, err = openDB(s.path, "synchronous(1)", "foreign_keys(1)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if s.readers, err = openDB(s.path, "query_only(1)", "busy_timeout(5000)"); err != nil {
		return err
	}
	s.readers.SetMaxIdleConns(1)
	err = patiently(ctx, func() error {
		s.conn, err = s.db.Conn(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.tx.prepare(ctx, s.conn); err != nil {
		return err
	}
	if err := patiently(ctx, func() error { return migrate(ctx, s.conn, &s.tx, s.path) }); err != nil {
		return err
	}
	if err := s.trail.prepare(ctx, s.conn); err != nil {
		return err
	}
	if s.heads, err = openHeadFile(filepath.Join(filepath.Dir(s.path), headName)); err != nil {
		return err
	}
	if s.trail.head, err = s.heads.read(); err != nil {
		s.log.WarnContext(ctx, "the copy of the audit head cannot be read", "err", err)
	}
	return nil
}

func openDB(path string, pragmas ...string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path // a drive letter
	}
	q := url.Values{"_pragma": pragmas}
	u.RawQuery = q.Encode()
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Close ends the instance that Begin started and closes the database. An instance with calls that have no outcome
// stays listed, so that a later Begin records what is known of them. Calling it again does nothing.
func (s *Store) Close() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.endInstance(context.Background())
	return errors.Join(err, s.disconnect())
}

func (s *Store) disconnect() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.trail.close(), s.tx.close(), s.conn.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.heads != nil {
		errs = append(errs, s.heads.close())
	}
	if err := errors.Join(errs...); err != nil {
		return classify(s.path, err)
	}
	return nil
}

// Append seals r as the next record of the trail and commits it. Seq, Prev and Hash are set, Time when it is zero.
// It waits up to 5 s for other processes.
func (s *Store) Append(ctx context.Context, r audit.Record) (audit.Record, error) {
	var sealed audit.Record
	err := s.write(ctx, func(ctx context.Context, a *appender) (err error) {
		sealed, err = a.append(ctx, r)
		return err
	})
	if err != nil {
		return audit.Record{}, err
	}
	return sealed, nil
}
