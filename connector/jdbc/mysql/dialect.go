package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// Dialect is the entry of MySQL and MariaDB.
type Dialect struct{}

var _ server.Dialect = Dialect{}

// Name is mysql.
func (Dialect) Name() string { return "mysql" }

// Aliases are the names of forks that speak the same.
func (Dialect) Aliases() []string { return []string{"mariadb"} }

// DefaultPort is 3306.
func (Dialect) DefaultPort() int { return defaultPort }

// SystemDatabase is "": a session needs no database.
func (Dialect) SystemDatabase() string { return "" }

// Options are those beside the connector's own.
func (Dialect) Options() []connector.Option {
	return []connector.Option{
		{Key: "sink.on-conflict", Public: true, Allowed: []string{"update", "ignore"}, Doc: "what an INSERT does with a row whose primary key is there already: 'update' the row, or 'ignore' the new one; without the option it is an error"},
	}
}

// Server makes the access to a server.
func (Dialect) Server(c server.Config) server.Server { return &Server{config: c} }

// parameter is one that an address may have.
type parameter struct {
	key     string
	allowed []string
	check   func(string) string
	// refused says why one that other tools take is not wanted here.
	refused string
}

func parameterTable() []parameter {
	truth := []string{"true", "false"}
	needless := "leave it out: "
	return []parameter{
		{key: "sslMode", allowed: []string{"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY", "disable", "trust", "verify-ca", "verify-full"}},
		{key: "useSSL", allowed: truth},
		{key: "requireSSL", allowed: truth},
		{key: "verifyServerCertificate", allowed: truth},
		{key: "serverSslCert", check: func(v string) string {
			if v == "" {
				return "want the path of a file with certificates (PEM)"
			}
			return ""
		}},
		{key: "connectTimeout", check: milliseconds},
		{key: "socketTimeout", check: milliseconds},
		{key: "tinyInt1isBit", allowed: truth},
		{key: "zeroDateTimeBehavior", allowed: []string{"EXCEPTION", "CONVERT_TO_NULL", "exception", "convertToNull"}},

		{key: "user", refused: "write the user into the option 'username'"},
		{key: "password", refused: "write the password into the option 'password'"},
		{key: "serverTimezone", refused: needless + "sessions are in UTC, so that a TIMESTAMP is the same instant for everybody"},
		{key: "connectionTimeZone", refused: needless + "sessions are in UTC, so that a TIMESTAMP is the same instant for everybody"},
		{key: "useUnicode", refused: needless + "sessions are in utf8mb4"},
		{key: "characterEncoding", refused: needless + "sessions are in utf8mb4"},
		{key: "rewriteBatchedStatements", refused: needless + "rows are always written many at a time"},
		{key: "useCursorFetch", refused: needless + "rows are always read as the server sends them"},
		{key: "useServerPrepStmts", refused: needless + "it does not matter here"},
		{key: "autoReconnect", refused: needless + "a session that is lost ends its job, which has then written nothing"},
		{key: "allowMultiQueries", refused: "several statements at a time are never sent"},
		{key: "allowLoadLocalInfile", refused: "files are never sent to the server"},
		{key: "sessionVariables", refused: "the session's variables are set by Sluice"},
		{key: "allowPublicKeyRetrieval", refused: needless + "without TLS the password is sent encrypted by the key that the server gives, which nobody vouches for: who sits in between can put in his own and read the password; sslMode=VERIFY_IDENTITY keeps him out"},
	}
}

func milliseconds(v string) string {
	if n, err := strconv.Atoi(v); err != nil || n < 0 {
		return "want a number of milliseconds"
	}
	return ""
}

// CheckParameter says what is wrong with a parameter of an address.
func (Dialect) CheckParameter(key, value string) string {
	var names []string
	for _, p := range parameterTable() {
		if p.key != key {
			if p.refused == "" {
				names = append(names, p.key)
			}
			continue
		}
		switch {
		case p.refused != "":
			return "parameter '" + key + "' is not supported: " + p.refused
		case p.allowed != nil && !slices.Contains(p.allowed, value):
			return fmt.Sprintf("parameter '%s' = '%s' is not valid; allowed: '%s'", key, value, strings.Join(p.allowed, "', '"))
		case p.check != nil && p.check(value) != "":
			return fmt.Sprintf("parameter '%s' = '%s' is not valid: %s", key, value, p.check(value))
		}
		return ""
	}
	msg := fmt.Sprintf("parameter '%s' is not supported", key)
	if s := connector.Closest(key, names); s != "" {
		return msg + "; did you mean '" + s + "'?"
	}
	return msg + "; supported: '" + strings.Join(names, "', '") + "'"
}

// parameters are those of an address, checked.
type parameters map[string]string

// duration returns a parameter in milliseconds, otherwise when it is not given or 0.
func (p parameters) duration(key string, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(p[key]); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	return otherwise
}

// sslMode is the mode of TLS as the words of one family name it.
func (p parameters) sslMode() string {
	if m := p["sslMode"]; m != "" {
		switch m {
		case "disable":
			return "DISABLED"
		case "trust":
			return "REQUIRED"
		case "verify-ca":
			return "VERIFY_CA"
		case "verify-full":
			return "VERIFY_IDENTITY"
		}
		return m
	}
	switch {
	case p["useSSL"] == "false":
		return "DISABLED"
	case p["verifyServerCertificate"] == "true":
		return "VERIFY_CA"
	case p["requireSSL"] == "true" || p["useSSL"] == "true":
		return "REQUIRED"
	}
	return "PREFERRED"
}

// secure sets TLS as the parameters say.
func (p parameters) secure(cfg *mysqldriver.Config, host string) error {
	mode := p.sslMode()
	if mode == "DISABLED" {
		return nil
	}
	t := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	cfg.TLS = t
	if path := p["serverSslCert"]; path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("parameter 'serverSslCert': %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("parameter 'serverSslCert': %s has no certificate (PEM)", path)
		}
	}
	switch mode {
	case "VERIFY_IDENTITY":
		return nil
	case "VERIFY_CA":
		// The chain is verified, the name in the certificate is not.
		t.InsecureSkipVerify = true
		roots := t.RootCAs
		t.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the server has no certificate")
			}
			opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
			for _, c := range state.PeerCertificates[1:] {
				opts.Intermediates.AddCert(c)
			}
			_, err := state.PeerCertificates[0].Verify(opts)
			return err
		}
		return nil
	}
	t.InsecureSkipVerify = true
	cfg.AllowFallbackToPlaintext = mode == "PREFERRED"
	return nil
}

// boolsOfTinyInt reports that TINYINT(1) is BOOLEAN.
func (p parameters) boolsOfTinyInt() bool { return p["tinyInt1isBit"] != "false" }

// zeroIsNull reports that dates such as 0000-00-00 are read as NULL.
func (p parameters) zeroIsNull() bool {
	return strings.EqualFold(strings.ReplaceAll(p["zeroDateTimeBehavior"], "_", ""), "convertToNull")
}
