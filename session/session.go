package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Config is what a session is made of.
type Config struct {
	// Env is the process-wide environment.
	Env *connector.Env
	// Catalogs and Connectors list what can be opened; 'generic_in_memory' must be among the catalogs.
	Catalogs   []catalog.Factory
	Connectors []connector.Factory
	// Options are set before the first statement, as by SET.
	Options map[string]string
}

// Session is one user's state. Execute is called by one goroutine at a time; Progress, Option and Cancel
// may be called from others.
type Session struct {
	env      *connector.Env
	registry *catalog.Registry
	catalogs *catalog.CatalogManager
	runtime  *exec.Runtime
	options  *options
	// statements is the table of statements, by form.
	statements map[string]statement
	names      names // for completion
	journal    sync.Once
	refusedSet atomic.Bool // a BEGIN STATEMENT SET has been refused, and no END has come

	mu      sync.Mutex
	current *exec.Job // the job that the statement at hand waits for or streams from
	began   time.Time // when current was submitted
	works   map[connector.JobID]*work
	onEnd   func(JobEnd)
}

// Text is one statement's text and where it stands in its script.
type Text = job.Text

// New makes a session with the built-in default catalog. An option that Config.Options cannot set is an error.
func New(cfg Config) (*Session, error) {
	s := &Session{env: cfg.Env, statements: statementsByForm(), works: map[connector.JobID]*work{}}
	s.options = newOptions(cfg.Env)
	for _, key := range sortedKeys(cfg.Options) {
		if _, err := s.setOption(key, cfg.Options[key]); err != nil {
			return nil, err
		}
	}
	s.registry = &catalog.Registry{Catalogs: cfg.Catalogs, Connectors: cfg.Connectors, Env: cfg.Env}
	m, err := catalog.NewCatalogManager(s.registry)
	if err != nil {
		return nil, fmt.Errorf("open the default catalog: %w", err)
	}
	if m.Store, err = s.options.catalogStore(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	s.catalogs = m
	s.runtime = &exec.Runtime{Registry: s.registry, Live: m.Live, Ended: s.ended}
	m.OnOpen = func(ctx context.Context, name string, c catalog.Catalog) {
		_, sweeps := c.(catalog.Sweeper)
		if _, resolves := c.(catalog.Resolver); sweeps || resolves {
			s.openJournal()
			s.runtime.Recover(ctx, name, c)
		}
	}
	return s, nil
}

// openJournal opens the journal of jobs, once, before the first job that writes and before the first
// recovery: a session that only reads touches no file of its own. Where no journal can be kept jobs run
// without one, which costs the report on a commit whose outcome is in doubt, and nothing else.
func (s *Session) openJournal() {
	s.journal.Do(func() {
		if s.env.StateDir == "" {
			return
		}
		st, err := store.Open(s.env.StateDir)
		if err != nil {
			if s.env.Err != nil {
				fmt.Fprintf(s.env.Err, "[WARNING] no journal of jobs is kept: %v\n", err)
			}
			return
		}
		s.runtime.Store = st
	})
}

// Close cancels the jobs that still run, waits for their hooks, and closes the catalogs.
func (s *Session) Close() error {
	s.names.close()
	return errors.Join(s.runtime.Close(), s.catalogs.Close())
}

// Option returns the effective value of an option: what SET gave it, else its default; "" for a key that
// is not one of the session's options.
func (s *Session) Option(key string) string {
	v, _ := s.options.get(key)
	return v
}

// IntOption returns the effective value of an option of type Integer.
func (s *Session) IntOption(key string) int { return s.options.number(key) }

// Zone returns the session's time zone.
func (s *Session) Zone() *time.Location {
	o := s.options
	o.mu.Lock()
	defer o.mu.Unlock()
	if name, _ := o.value(keyZone); o.loaded == nil || name != o.loadedName {
		o.loaded, o.loadedName = location(name), name
	}
	return o.loaded
}

// Masked returns a statement's text without its secrets, at equal length: as it may be kept.
func (s *Session) Masked(sql string) string {
	x := s.execution(Text{SQL: sql})
	if stmt, err := sqlparse.Parse(sql); err == nil {
		x.stmt = stmt
		s.mask(x)
	} else {
		x.masked.SQL = sqlparse.MaskUnparsed(sql, nil) // kept for long: no value of an option is
	}
	return s.scrubSource(x)
}

// CurrentCatalog returns the name of the current catalog.
func (s *Session) CurrentCatalog() string { return s.catalogs.CurrentCatalog() }

// CurrentDatabase returns the name of the current database.
func (s *Session) CurrentDatabase() string { return s.catalogs.CurrentDatabase() }

// execution is one statement on its way through Execute.
type execution struct {
	text Text // as given
	stmt sqlparse.Statement
	// masked is text with its secrets masked at equal length, for whatever is shown or kept.
	masked Text
	// texts are those that places of the job's errors are in: the statement, then those of views.
	texts []Text
	// secrets are values of this statement that must not be shown.
	secrets []string
}

// execution begins a statement, not yet parsed.
func (s *Session) execution(t Text) *execution {
	x := &execution{text: t, masked: t}
	x.masked.SQL = sqlparse.MaskSecrets(t.SQL)
	return x
}

// Execute runs one statement. Its errors are *Error. When ctx ends the statement's job is canceled, and
// Execute returns once the job's hooks have run. The rows of a query stream through the Result, which the
// caller closes; a job in the background goes on (see background.go); the other statements have ended when
// Execute returns.
func (s *Session) Execute(ctx context.Context, t Text) (*Result, error) {
	began := s.env.Clock()
	x := s.execution(t)
	stmt, err := sqlparse.Parse(t.SQL)
	if err != nil {
		s.maskUnparsed(x)
		return nil, s.fail(x, err)
	}
	x.stmt = stmt
	s.mask(x)
	if err := s.inRefusedSet(x.stmt); err != nil {
		return nil, s.fail(x, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, s.fail(x, err)
	}
	res, err := s.run(connector.WithWaits(ctx, s.env.Waits), x)
	s.names.changed()
	if err != nil {
		e := s.fail(x, err)
		// What failed after a cancel failed because of it; a job says itself how it ended.
		var ended *exec.Error
		if ctx.Err() != nil && !e.Canceled && !errors.As(err, &ended) {
			e.Canceled, e.Msg = true, "canceled: "+e.Msg
		}
		return nil, e
	}
	res.x, res.session, res.began = x, s, began
	res.Elapsed = s.env.Clock().Sub(began)
	return res, nil
}
