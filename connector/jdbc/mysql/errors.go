package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/sluice-sql/sluice/connector"
)

// Numbers of the server's errors.
const (
	errDatabaseExists   = 1007
	errNoSuchDrop       = 1008 // of a database
	errDenied           = 1044 // for a database
	errBadLogin         = 1045
	errBadDatabase      = 1049
	errTableExists      = 1050
	errUnknownTable     = 1051
	errDuplicate        = 1062
	errRowReferenced    = 1451
	errNoRowReferenced  = 1452
	errTableDenied      = 1142
	errNoSuchTable      = 1146
	errPacketTooLarge   = 1153
	errNotRolledBack    = 1196 // a warning
	errLockWait         = 1205
	errDeadlock         = 1213
	errInterrupted      = 1317
	errKilled           = 1927 // MariaDB: connection was killed
	errDropNotPermitted = 1227
	errTooManySessions  = 1040
	errShutdown         = 1053
	errDiskFull         = 1021
	errEngine           = 1030
	errTableFull        = 1114
	errTooManyOfUser    = 1203
	errCannotCreate     = 1005
	errTooManyColumns   = 1117
)

// Error is an error that the server sent.
type Error struct {
	Number int
	Msg    string
}

// Error is the server's message, cleaned of what would disturb a terminal.
func (e *Error) Error() string { return e.Msg }

// LinkError says that the connection to the server was lost, or was not had.
type LinkError struct {
	Addr string
	Msg  string
}

// Error names the server.
func (e *LinkError) Error() string { return "MySQL server " + e.Addr + ": " + e.Msg }

// numberOf returns the number of the server's error, 0 when err is none.
func numberOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// fault turns an error of the driver into one that a person can read and that has no secret.
func (s *Server) fault(err error) error {
	if err == nil {
		return nil
	}
	var reply *mysqldriver.MySQLError
	if errors.As(err, &reply) {
		msg := s.scrub(reply.Message)
		if reply.Number == errBadLogin {
			msg = "the server refuses user " + s.config.User + ": " + msg + "; look at 'username' and 'password'"
		}
		return &Error{int(reply.Number), msg}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var link *LinkError
	if errors.As(err, &link) {
		return err
	}
	return &LinkError{s.addr(), s.scrub(linkReason(err))}
}

// scrub takes the password and control characters out of a text.
func (s *Server) scrub(text string) string {
	if pw := s.config.Password.Reveal(); len(pw) > 2 {
		text = strings.ReplaceAll(text, pw, connector.Mask)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

func linkReason(err error) string {
	var dns *net.DNSError
	var number syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return "there is no host of the name " + dns.Name
	case errors.As(err, &number):
		return "cannot be reached: " + number.Error()
	case errors.Is(err, mysqldriver.ErrInvalidConn), errors.Is(err, driver.ErrBadConn), errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrClosed):
		return "the connection was lost"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, mysqldriver.ErrNoTLS):
		return "the server has no TLS, and 'sslMode' or 'useSSL' asks for it"
	case errors.Is(err, mysqldriver.ErrCleartextPassword), errors.Is(err, mysqldriver.ErrOldPassword), errors.Is(err, mysqldriver.ErrUnknownPlugin):
		return "the user's way of authentication is not supported"
	}
	return err.Error()
}

// lost reports that an error leaves open what the server did: it is not the server's own answer.
func lost(err error) bool { return err != nil && numberOf(err) == 0 }

// interrupted reports that the server gave up a statement because it was told to: what the statement had done by then
// cannot be told from the answer.
func interrupted(err error) bool {
	switch numberOf(err) {
	case errInterrupted, errKilled, errShutdown:
		return true
	}
	return false
}

// limits puts into our words what the server says of a table with the name that it is made under.
func limits(err error) error {
	switch n := numberOf(err); {
	case n == errTableFull:
		return &Error{n, "there is no more room on the server: its disk is full, or the tablespace has reached its limit"}
	case n == errTooManyColumns, n == errCannotCreate && strings.Contains(err.Error(), "Too many columns"):
		return &Error{n, "it has more columns than a table of InnoDB can have, 1017"}
	case n == errCannotCreate && strings.Contains(err.Error(), "errno: 28"):
		return limits(&Error{errTableFull, ""})
	}
	return err
}

// unsure reports that an error of a commit leaves open whether it was one.
func unsure(err error) bool { return lost(err) || interrupted(err) }

// transient reports an error that another try may not meet.
func transient(err error) bool {
	var link *LinkError
	switch numberOf(err) {
	case errTooManySessions, errTooManyOfUser, errShutdown, errKilled:
		return true
	}
	return errors.As(err, &link)
}

// privilege explains what a refusal of the server means for what was to be done.
func privilege(err error, what string) error {
	switch numberOf(err) {
	case errDenied, errTableDenied, errDropNotPermitted:
		return fmt.Errorf("%s: %w", what, err)
	}
	return err
}
