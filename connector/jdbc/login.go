package jdbc

import (
	"path/filepath"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// LoginOptions are the options that say as whom a server is used.
func LoginOptions() []connector.Option {
	return []connector.Option{
		{Key: "username", Public: true, Doc: "the user; not for SQLite"},
		{Key: "password", Secret: true, Doc: "the password; not for SQLite"},
	}
}

// Check checks the options of a table or catalog against its address: those of another dialect, and users where
// there are none or none where there are some.
func (d Dialects) Check(a Address, options map[string]string) error {
	if a.Server == nil {
		if err := RefuseUsers(options); err != nil {
			return err
		}
		return d.check(sqlite.Options(), "SQLite", options)
	}
	user, has := options["username"]
	switch {
	case !has:
		return &connector.OptionError{Msg: "the dialect '" + a.Dialect + "' needs the option 'username'"}
	case strings.TrimSpace(user) == "" || strings.ContainsRune(user, 0):
		return &connector.OptionError{Key: "username", Msg: "option 'username' is blank"}
	}
	if password, ok := options["password"]; ok && (strings.TrimSpace(password) == "" || strings.ContainsRune(password, 0)) {
		return &connector.OptionError{Key: "password", Msg: "option 'password' is blank; leave it out where the server asks for none"}
	}
	return d.check(a.Server.Options(), a.Dialect, options)
}

// Resolve returns options with the path of a password's file made absolute.
func Resolve(options map[string]string) (map[string]string, error) {
	path, ok := strings.CutPrefix(options["password"], "file:")
	if !ok || path == "" || filepath.IsAbs(path) {
		return options, nil
	}
	path, err := filepath.Abs(path)
	resolved := map[string]string{}
	for k, v := range options {
		resolved[k] = v
	}
	resolved["password"] = "file:" + path
	return resolved, err
}

// Open returns the access to the server of an address. Nothing is opened, but the secret of 'password' is looked
// up.
func (a Address) Open(options map[string]string, env *connector.Env) (server.Server, error) {
	config := server.Config{Host: a.Host, Port: a.Port, User: options["username"], Parameters: a.Parameters, Options: options, Env: env}
	if value, ok := options["password"]; ok {
		var files *connector.Files
		if env != nil {
			files = env.Files
		}
		secret, err := connector.ResolveSecret("password", value, files)
		if err != nil {
			return nil, err
		}
		config.Password = secret
	}
	return a.Server.Server(config), nil
}
