package mysql

import (
	"context"
	"crypto/sha256"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

var _ server.Server = (*Server)(nil)

// Server is one MySQL or MariaDB server as one user.
type Server struct {
	config server.Config

	mu sync.Mutex
	// facts are those of the last session; nil before the first.
	facts *facts
	// answers are the jobs whose commit happened, and whose journal was told so.
	answers map[connector.JobID]bool
}

// facts are what matters of a server beside its tables.
type facts struct {
	version   string
	maria     bool
	number    int // version as major*10000 + minor*100 + patch
	folding   int // lower_case_table_names
	maxPacket int
	flush     int // innodb_flush_log_at_trx_commit
}

// product names the server for messages.
func (f *facts) product() string {
	if f.maria {
		return "MariaDB " + f.version
	}
	return "MySQL " + f.version
}

// atomicDDL reports that RENAME TABLE survives a crash whole.
func (f *facts) atomicDDL() bool {
	if f.maria {
		return f.number >= 10_06_00
	}
	return f.number >= 8_00_00
}

// collation is the one under which texts are told apart by every byte.
func (f *facts) collation() string {
	if f == nil || f.maria {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// hasCollation reports that the server knows that collation; one of which nothing is known may.
func (f *facts) hasCollation() bool { return f == nil || f.maria || f.number >= 8_00_17 }

// maxScale is the most decimals of a DECIMAL, on some server when nothing is known of this one.
func (f *facts) maxScale() int {
	if f == nil || f.maria {
		return 38
	}
	return 30
}

// known returns what is known of the server, nil before the first session.
func (s *Server) known() *facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts
}

func (s *Server) addr() string {
	port := s.config.Port
	if port == 0 {
		port = defaultPort
	}
	return net.JoinHostPort(s.config.Host, strconv.Itoa(port))
}

// Key names server and user.
func (s *Server) Key() string { return "mysql://" + s.config.User + "@" + s.addr() }

// Ping makes sure that the database can be reached.
func (s *Server) Ping(ctx context.Context, database string) error {
	c, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	return c.close()
}

// Close has nothing to close: no session outlives the call it serves.
func (s *Server) Close() error { return nil }

// option returns a table's or catalog's option.
func (s *Server) option(key string) string { return s.config.Options[key] }

// with opens a session for the time of f.
func (s *Server) with(ctx context.Context, database string, f func(*conn) error) (err error) {
	c, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { // also when f panics
		if closeErr := c.close(); err == nil {
			err = closeErr
		}
	}()
	return f(c)
}

// lockName is the name of the server's lock that a job's session holds.
func lockName(job connector.JobID) string { return "sluice:" + job.String() }

// askName is the name of the lock of whoever looks what became of a job's commit.
func askName(job connector.JobID) string { return lockName(job) + ":ask" }

// publishName is the name of the lock of the job that publishes a table, from its look at the old one to the end.
func publishName(database, table string) string {
	return "sluice:publish:" + digest(strings.ToLower(qualified(database, table)))
}

// digest is a short name for a text.
func digest(text string) string {
	const hex = "0123456789abcdef"
	sum := sha256.Sum256([]byte(text))
	out := make([]byte, 0, 32)
	for _, b := range sum[:16] {
		out = append(out, hex[b>>4], hex[b&15])
	}
	return string(out)
}
