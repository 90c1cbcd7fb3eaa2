package postgres

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// Server is one server as one user.
type Server struct {
	config   server.Config
	patience time.Duration // how long the server is asked for the outcome of a commit

	once      sync.Once
	driver    *pgconn.Config
	driverErr error
}

var _ server.Server = (*Server)(nil)

func newServer(c server.Config) *Server {
	if c.Port == 0 {
		c.Port = Dialect{}.DefaultPort()
	}
	return &Server{config: c, patience: resolveWait}
}

func (s *Server) address() string {
	return net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port))
}

// Key names server and user.
func (s *Server) Key() string { return "postgresql://" + s.config.User + "@" + s.address() }

// Close does nothing: no session is kept.
func (s *Server) Close() error { return nil }

// Ping makes sure that a database can be reached.
func (s *Server) Ping(ctx context.Context, database string) error {
	return s.with(ctx, database, func(*conn) error { return nil })
}

// driverConfig makes the driver's settings. What the environment says of PostgreSQL's own programs is overridden:
// an address means the same whoever uses it.
func (s *Server) driverConfig() (*pgconn.Config, error) {
	s.once.Do(func() { s.driver, s.driverErr = s.makeConfig() })
	return s.driver, s.driverErr
}

func (s *Server) makeConfig() (*pgconn.Config, error) {
	p := s.config.Parameters
	settings := map[string]string{
		"host": s.config.Host, "port": strconv.Itoa(s.config.Port), "user": s.config.User, "dbname": "postgres",
		"password": "none", // so that no file is searched for one
		"sslmode":  "prefer", "sslnegotiation": "postgres", "target_session_attrs": "any", "connect_timeout": "10",
		"sslrootcert": "", "sslcert": "", "sslkey": "", "sslpassword": "", "channel_binding": "prefer", "require_auth": "",
		"sslsni": "1", "min_protocol_version": "3.0", "max_protocol_version": "3.0",
	}
	for from, to := range map[string]string{"sslmode": "sslmode", "sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey", "connectTimeout": "connect_timeout"} {
		if v, ok := p[from]; ok {
			settings[to] = v
		}
	}
	var b strings.Builder
	for k, v := range settings {
		b.WriteString(k + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "' ")
	}
	cfg, err := pgconn.ParseConfig(b.String())
	if err != nil {
		if os.Getenv("PGSERVICE") != "" {
			return nil, &configError{s.address(), "the environment variable PGSERVICE is set to a service that cannot be read; unset it"}
		}
		return nil, &configError{s.address(), s.scrub(rootCause(err).Error())}
	}
	cfg.Password = s.config.Password.Reveal()
	cfg.BuildFrontend = frontend
	application := "sluice"
	if a := p["ApplicationName"]; a != "" {
		application = a
	}
	cfg.RuntimeParams = map[string]string{
		"application_name": application,
		// The forms that values are read and written in.
		"client_encoding": "UTF8", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres", "TimeZone": "UTC", "bytea_output": "hex",
		"extra_float_digits": "3", "standard_conforming_strings": "on", "xmloption": "content",
		// The order of a table's pages is the order of its rows.
		"synchronize_seqscans": "off",
		// Waits end with the context of the statement that waits, and keepalives end a session whose client is gone.
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
		"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
	}
	if o := p["options"]; o != "" {
		cfg.RuntimeParams["options"] = o
	}
	return cfg, nil
}

// configError says what is wrong with the settings of a connection.
type configError struct{ address, why string }

// Error names the server.
func (e *configError) Error() string { return "PostgreSQL " + e.address + ": " + e.why }

// rootCause is the innermost error, which does not repeat the connection's settings.
func rootCause(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err
		}
		err = u.Unwrap()
	}
}
