package jdbc

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// Address is a parsed jdbc URL.
type Address struct {
	Dialect string
	Path    string // sqlite: a file, or a directory of databases; clean, without a trailing slash
	Dir     bool

	// Server is the dialect of a server; nil for SQLite.
	Server server.Dialect
	Host   string
	Port   int // 0: the dialect's own
	// Database is "" where the URL names none.
	Database   string
	Parameters map[string]string
}

// example is an address that is right.
const example = "jdbc:sqlite:/path/shop.db"

// ParseURL reads jdbc:sqlite:PATH, and jdbc:DIALECT://HOST[:PORT]/[DATABASE][?KEY=VALUE&…] of a server, as Flink
// has it. A path that ends in a slash, or at which there is a directory, is a directory of databases. What may
// hold a password is in no message.
func (d Dialects) ParseURL(text string) (Address, error) {
	rest, ok := strings.CutPrefix(text, "jdbc:")
	dialect, rest, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || dialect == "" {
		shown := "it"
		if !strings.Contains(text, "@") {
			shown = "'" + text + "'"
		}
		return Address{}, fmt.Errorf("%s is not a jdbc address; write for example %s", shown, d.examples())
	}
	if strings.IndexByte(text, 0) >= 0 {
		return Address{}, fmt.Errorf("the address contains a NUL character")
	}
	if dialect == sqliteDialect {
		return parseFile(text, rest)
	}
	if s := d.find(dialect); s != nil {
		return parseServer(s, dialect, rest)
	}
	return Address{}, fmt.Errorf("the jdbc dialect '%s' is not supported; supported: %s", dialect, quoted(d.Names()))
}

func (d Dialects) examples() string {
	list := []string{example}
	for _, s := range d.All() {
		list = append(list, "jdbc:"+s.Name()+"://localhost/shop")
	}
	return strings.Join(list, " or ")
}

func parseFile(text, path string) (Address, error) {
	switch {
	case path == "":
		return Address{}, fmt.Errorf("'%s' names no file; write for example %s, or jdbc:sqlite:/path/ for a directory of databases", text, example)
	case path == ":memory:":
		return Address{}, fmt.Errorf("'%s': an in-memory SQLite database is seen by one connection only; use a catalog of type 'generic_in_memory'", text)
	case strings.HasPrefix(path, "file:") || strings.Contains(path, "?"):
		return Address{}, fmt.Errorf("'%s': write a plain path; SQLite's URI parameters are not taken", text)
	}
	a := Address{Dialect: sqliteDialect, Dir: strings.HasSuffix(path, "/"), Path: filepath.Clean(path)}
	if st, err := os.Stat(a.Path); err == nil && st.IsDir() {
		a.Dir = true
	}
	return a, nil
}

// errUser is of an address that says as whom.
var errUser = errors.New("the address has a user before the host: give it, and the password, by the options 'username' and 'password'")

func parseServer(s server.Dialect, name, rest string) (Address, error) {
	a := Address{Dialect: name, Server: s, Parameters: map[string]string{}}
	form := "jdbc:" + name + "://host:" + strconv.Itoa(s.DefaultPort()) + "/database"
	fault := func(format string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf(format+"; write it as "+form, args...)
	}
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return fault("the address names no host")
	}
	// A password may hold any character, so that every @ before the parameters is one behind a user.
	head, query, hasQuery := strings.Cut(rest, "?")
	if strings.Contains(head, "@") {
		return Address{}, errUser
	}
	authority, path, _ := strings.Cut(head, "/")
	var err error
	if a.Host, a.Port, err = hostPort(authority); err != nil {
		if strings.Contains(rest, "@") {
			return Address{}, errUser // of a password with a ?
		}
		return fault("%s", err)
	}
	switch a.Database, err = url.PathUnescape(path); {
	case err != nil:
		return fault("the database name '%s' has a %% that begins no code of two hexadecimal digits", path)
	case strings.Contains(path, "/"):
		return fault("'%s' has a slash, which a database name does not have (one in the name itself is written %%2F)", path)
	case strings.ContainsAny(a.Database, "\x00"):
		return fault("the database name contains a NUL character")
	}
	if hasQuery {
		err = a.parseParameters(query)
	}
	return a, err
}

// hostPort reads host, host:port, [address] and [address]:port.
func hostPort(authority string) (host string, port int, err error) {
	host, digits := authority, ""
	switch i := strings.LastIndexByte(authority, ':'); {
	case strings.HasPrefix(authority, "["):
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", 0, fmt.Errorf("the host '%s' has no closing bracket", authority)
		}
		host, digits = authority[1:end], authority[end+1:]
		address, _, _ := strings.Cut(host, "%")
		if ip := net.ParseIP(address); ip == nil || !strings.Contains(address, ":") {
			return "", 0, fmt.Errorf("'%s' is no IPv6 address", host)
		}
	case strings.Count(authority, ":") > 1:
		return "", 0, fmt.Errorf("'%s' is no host: an IPv6 address is written in brackets, as [::1]", authority)
	case i >= 0:
		host, digits = authority[:i], authority[i:]
	}
	switch {
	case host == "":
		return "", 0, fmt.Errorf("the address names no host")
	case strings.Contains(host, ","):
		return "", 0, fmt.Errorf("'%s' names several hosts, and only one is taken", host)
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'#<>\^{|}()=`, r) }):
		return "", 0, fmt.Errorf("'%s' is no host name", host)
	case digits == "":
		return host, 0, nil
	}
	port, err = strconv.Atoi(strings.TrimPrefix(digits, ":"))
	if err != nil || digits[0] != ':' || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("'%s' is no port, which is a number from 1 to 65535", strings.TrimPrefix(digits, ":"))
	}
	return host, port, nil
}

// credential returns the option that takes the place of a parameter by which other tools take users and
// passwords; "" for all others.
func credential(parameter string) string {
	switch strings.ToLower(parameter) {
	case "user", "username":
		return "username"
	case "password", "passwd", "pwd", "password1":
		return "password"
	}
	return ""
}

func (a *Address) parseParameters(query string) error {
	for _, pair := range strings.Split(query, "&") {
		if pair == "" {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		if strings.Contains(k, "@") {
			return errUser
		}
		key, err := url.QueryUnescape(k)
		if option := credential(key); option != "" {
			return fmt.Errorf("the address has the parameter '%s': give it by the option '%s'", key, option)
		}
		value, verr := url.QueryUnescape(v)
		if err != nil || verr != nil {
			return fmt.Errorf("the parameter '%s' has a %% that begins no code of two hexadecimal digits", k)
		}
		if _, twice := a.Parameters[key]; twice {
			return fmt.Errorf("the parameter '%s' is given twice", key)
		}
		if why := a.Server.CheckParameter(key, value); why != "" {
			return errors.New(why) // names the parameter
		}
		a.Parameters[key] = value
	}
	return nil
}

// String returns the address as a URL, without parameters; that of a directory ends in a slash.
func (a Address) String() string {
	if a.Server != nil {
		s := "jdbc:" + a.Dialect + "://" + a.Host
		if strings.Contains(a.Host, ":") {
			s = "jdbc:" + a.Dialect + "://[" + a.Host + "]"
		}
		if a.Port != 0 {
			s += ":" + strconv.Itoa(a.Port)
		}
		return s + "/" + url.PathEscape(a.Database)
	}
	s := "jdbc:" + a.Dialect + ":" + a.Path
	if a.Dir && !strings.HasSuffix(s, "/") {
		s += "/"
	}
	return s
}

// Absolute returns the address with its path made absolute.
func (a Address) Absolute() (Address, error) {
	if a.Server != nil {
		return a, nil
	}
	p, err := filepath.Abs(a.Path)
	a.Path = p
	return a, err
}
