package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluice-sql/sluice/connector"
)

// SQLSTATEs that are told apart.
const (
	codeNotNull         = "23502"
	codeUnique          = "23505"
	codeExists          = "42P07"
	codeDuplicateObject = "42710"
	codeNoTable         = "42P01"
	codeNoDatabase      = "3D000"
	codeDuplicateDB     = "42P04"
	codeObjectInUse     = "55006"
	codeNotSupported    = "0A000"
	codeNoRight         = "42501"
	codeDependents      = "2BP01"
)

// Error is an error that the server reported.
type Error struct {
	Code   string // SQLSTATE
	Msg    string
	Detail string
	Hint   string
	Where  string // the server's context, which has the row of a COPY
	Table  string // the object that a constraint or a duplicate is about
	Place  string // server and database
	// Routine of the server's source that found it.
	Routine string
	fatal   bool // the server has ended the session
}

// Error is the server's message with its detail and hint.
func (e *Error) Error() string {
	msg := e.Place + ": " + e.Msg
	if e.Detail != "" {
		msg += ": " + strings.TrimSuffix(e.Detail, ".")
	}
	if e.Hint != "" {
		msg += " (" + strings.TrimSuffix(e.Hint, ".") + ")"
	}
	return msg
}

// code returns the SQLSTATE of an error, "" when it is none of the server's.
func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// place names server and database in errors.
func (s *Server) place(database string) string {
	return fmt.Sprintf("PostgreSQL %s, database %s", s.address(), database)
}

func (s *Server) newError(database string, e *pgconn.PgError) *Error {
	if e.Code == codeDependents {
		e.Hint = "" // DROP … CASCADE, which we have not
	}
	return &Error{Code: e.Code, Routine: e.Routine, Msg: s.scrub(e.Message), Detail: s.scrub(e.Detail), Hint: s.scrub(e.Hint), Where: s.scrub(e.Where), Table: e.TableName, Place: s.place(database)}
}

// scrub removes the password from a text, which a server could repeat.
func (s *Server) scrub(t string) string {
	p := s.config.Password.Reveal()
	if p == "" {
		return t
	}
	for _, form := range []string{p, strings.ReplaceAll(p, "'", "''"), strings.ReplaceAll(p, `"`, `""`), url.QueryEscape(p), url.PathEscape(p)} {
		t = strings.ReplaceAll(t, form, connector.Mask)
	}
	return t
}

// linkError words the loss of a connection.
func (s *Server) linkError(database string, err error) error {
	why := s.network(err)
	return &LinkError{s.place(database), why}
}

// LinkError says that the connection to a server was lost.
type LinkError struct{ Place, Why string }

// Error says which server's.
func (e *LinkError) Error() string { return e.Place + ": the connection was lost: " + e.Why }

// network says in plain words what happened to a connection.
func (s *Server) network(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return "the server's certificate is not accepted: " + certificate.Err.Error()
	case errors.As(err, &dns):
		return "there is no host " + dns.Name
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused; is the server running, and does it listen at this address?"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "no answer in time"
	case errors.Is(err, net.ErrClosed):
		return "the connection is closed"
	// The driver has no other sign of these. Where TLS is tried only, it is another error that counts.
	case strings.Contains(err.Error(), "failed to receive message: "), strings.Contains(err.Error(), "does not look like a TLS handshake"):
		return "what answers there is no PostgreSQL server; is the port right?"
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return "the server does not speak TLS, which sslmode=" + s.config.Parameters["sslmode"] + " asks for"
	}
	return s.scrub(err.Error())
}

// connectError words why a session could not be opened.
func (s *Server) connectError(database string, err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		e := s.newError(database, pg)
		switch e.Code {
		case codeNoDatabase:
			return &noDatabaseError{s.place(database)}
		case "28P01", "28000":
			e.Msg = "the server refuses user " + s.config.User + ": " + e.Msg + "; look at 'username' and 'password'"
			if s.config.Password.Reveal() == "" {
				e.Msg += ": no password was given, or what 'password' leads to is empty"
			}
		}
		return e
	}
	inner := err
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		inner = connect.Unwrap()
	}
	return fmt.Errorf("PostgreSQL %s: cannot connect: %s", s.address(), s.network(inner))
}
