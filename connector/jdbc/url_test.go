package jdbc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// fakeDialect is a dialect of no server, for what is done before one is reached.
type fakeDialect struct {
	server.Dialect
	name    string
	aliases []string
	port    int
	options []connector.Option
	opened  *server.Config
}

func (d fakeDialect) Name() string                { return d.name }
func (d fakeDialect) Aliases() []string           { return d.aliases }
func (d fakeDialect) DefaultPort() int            { return d.port }
func (d fakeDialect) Options() []connector.Option { return d.options }
func (d fakeDialect) CheckParameter(key, value string) string {
	if key == "bad" {
		return "parameter bad is not taken"
	}
	return ""
}
func (d fakeDialect) Server(c server.Config) server.Server {
	*d.opened = c
	return nil
}

func fakes() Dialects {
	return Dialects{
		fakeDialect{name: "postgresql", aliases: []string{"postgres"}, port: 5432, opened: &server.Config{},
			options: []connector.Option{{Key: "sink.on-conflict", Public: true}, {Key: "pg.own", Public: true}}},
		fakeDialect{name: "mysql", aliases: []string{"mariadb"}, port: 3306, opened: &server.Config{}},
	}
}

func TestServerURL(t *testing.T) {
	none := map[string]string{}
	for text, want := range map[string]Address{
		"jdbc:postgresql://db.example.org":                           {Host: "db.example.org"},
		"jdbc:postgresql://h/":                                       {Host: "h"},
		"jdbc:postgresql://h:5433":                                   {Host: "h", Port: 5433},
		"jdbc:postgresql://h:5433/shop":                              {Host: "h", Port: 5433, Database: "shop"},
		"jdbc:postgres://h/a%2Fb%20c":                                {Host: "h", Database: "a/b c"},
		"jdbc:mysql://127.0.0.1:3306/shop?sslMode=REQUIRED&x=a%26b+": {Host: "127.0.0.1", Port: 3306, Database: "shop", Parameters: map[string]string{"sslMode": "REQUIRED", "x": "a&b "}},
		"jdbc:mariadb://[::1]/d":                                     {Host: "::1", Database: "d"},
		"jdbc:mariadb://[fe80::1%eth0]:3307/?":                       {Host: "fe80::1%eth0", Port: 3307},
	} {
		got, err := fakes().ParseURL(text)
		require.NoError(t, err, text)
		if want.Parameters == nil {
			want.Parameters = none
		}
		want.Server, want.Dialect = got.Server, got.Dialect
		require.Equal(t, want, got, text)
		again, err := fakes().ParseURL(got.String())
		require.NoError(t, err, got.String())
		got.Parameters = none
		require.Equal(t, got, again)
	}
	const pg = "; write it as jdbc:postgresql://host:5432/database"
	for text, want := range map[string]string{
		"jdbc:oracle://h/d":                       "the jdbc dialect 'oracle' is not supported; supported: 'sqlite', 'postgresql', 'postgres', 'mysql', 'mariadb'",
		"postgresql://h/d":                        "'postgresql://h/d' is not a jdbc address; write for example jdbc:sqlite:/path/shop.db or jdbc:postgresql://localhost/shop or jdbc:mysql://localhost/shop",
		"postgresql://me:secret@h/d":              "it is not a jdbc address; write for example jdbc:sqlite:/path/shop.db or jdbc:postgresql://localhost/shop or jdbc:mysql://localhost/shop",
		"jdbc:postgresql:shop":                    "the address names no host" + pg,
		"jdbc:postgresql:///shop":                 "the address names no host" + pg,
		"jdbc:postgresql://:5432/shop":            "the address names no host" + pg,
		"jdbc:postgresql://h:/shop":               "'' is no port, which is a number from 1 to 65535" + pg,
		"jdbc:postgresql://h:99999/shop":          "'99999' is no port, which is a number from 1 to 65535" + pg,
		"jdbc:postgresql://h:x/shop":              "'x' is no port, which is a number from 1 to 65535" + pg,
		"jdbc:postgresql://a,b/shop":              "'a,b' names several hosts, and only one is taken" + pg,
		"jdbc:postgresql://::1/shop":              "'::1' is no host: an IPv6 address is written in brackets, as [::1]" + pg,
		"jdbc:postgresql://[::1/shop":             "the host '[::1' has no closing bracket" + pg,
		"jdbc:postgresql://[h]/shop":              "'h' is no IPv6 address" + pg,
		"jdbc:postgresql://[::1]5432/shop":        "'5432' is no port, which is a number from 1 to 65535" + pg,
		"jdbc:postgresql://h/a/b":                 "'a/b' has a slash, which a database name does not have (one in the name itself is written %2F)" + pg,
		"jdbc:postgresql://h/a%zz":                "the database name 'a%zz' has a % that begins no code of two hexadecimal digits" + pg,
		"jdbc:postgresql://h/a%00":                "the database name contains a NUL character" + pg,
		"jdbc:postgresql://me:se/c@ret@h/d":       "the address has a user before the host: give it, and the password, by the options 'username' and 'password'",
		"jdbc:postgresql://me:se?cret@h/d":        "the address has a user before the host: give it, and the password, by the options 'username' and 'password'",
		"jdbc:postgresql://me:1?cret@h/d":         "the address has a user before the host: give it, and the password, by the options 'username' and 'password'",
		"jdbc:postgresql://h/d?user=me":           "the address has the parameter 'user': give it by the option 'username'",
		"jdbc:postgresql://h/d?x=1&PassWord=sec":  "the address has the parameter 'PassWord': give it by the option 'password'",
		"jdbc:postgresql://h/d?p%61ssword=sec":    "the address has the parameter 'password': give it by the option 'password'",
		"jdbc:postgresql://h/d?x=1&x=2":           "the parameter 'x' is given twice",
		"jdbc:postgresql://h/d?x=%4":              "the parameter 'x' has a % that begins no code of two hexadecimal digits",
		"jdbc:postgresql://h/d?bad=1":             "parameter bad is not taken",
		"jdbc:postgresql://h name/d":              "'h name' is no host name" + pg,
		"jdbc:mysql://(host=a,password=secret)/d": "'(host=a,password=secret)' names several hosts, and only one is taken; write it as jdbc:mysql://host:3306/database",
	} {
		_, err := fakes().ParseURL(text)
		require.EqualError(t, err, want, text)
	}
}

func TestLogin(t *testing.T) {
	d := fakes()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pw"), []byte("from file\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big"), make([]byte, 70<<10), 0o600))
	t.Setenv("SLUICE_TEST_PW", "from env")
	open := func(options map[string]string) (string, error) {
		a, err := d.ParseURL("jdbc:postgresql://h/d")
		require.NoError(t, err)
		if err := d.Check(a, options); err != nil {
			return "", err
		}
		_, err = a.Open(options, &connector.Env{Files: connector.NewFiles()})
		c := d[0].(fakeDialect).opened
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", c.Password, c.Password, c.Password), "from")
		return c.User + "/" + c.Password.Reveal(), err
	}
	for options, want := range map[[2]string]string{
		{"password", "plain"}:               "me/plain",
		{"password", "env:SLUICE_TEST_PW"}:  "me/from env",
		{"password", "file:" + dir + "/pw"}: "me/from file",
		{"sink.on-conflict", "update"}:      "me/",
	} {
		got, err := open(map[string]string{"username": "me", options[0]: options[1]})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for options, want := range map[[2]string]string{
		{"username", " "}:                    "option 'username' is blank",
		{"password", ""}:                     "option 'password' is blank; leave it out where the server asks for none",
		{"password", "env:"}:                 "option 'password': env: names no variable; write for example 'env:PGPASSWORD'",
		{"password", "env:SLUICE_TEST_NO"}:   "option 'password': the environment variable SLUICE_TEST_NO is not set",
		{"password", "file:"}:                "option 'password': file: names no file; write for example 'file:/home/me/.pgpassword'",
		{"password", "file:" + dir}:          "option 'password': " + dir + " is not a plain file",
		{"password", "file:" + dir + "/no"}:  "option 'password': there is no file " + dir + "/no",
		{"password", "file:" + dir + "/big"}: "option 'password': the file " + dir + "/big has 71680 bytes; one that holds a secret has 65536 at most",
		{"sqlite.misfit", "null"}:            "the option 'sqlite.misfit' is for SQLite, not for postgresql: leave it out",
	} {
		_, err := open(map[string]string{"username": "me", options[0]: options[1]})
		require.EqualError(t, err, want)
	}
	_, err := open(map[string]string{})
	require.EqualError(t, err, "the dialect 'postgresql' needs the option 'username'")
	lite, err := d.ParseURL("jdbc:sqlite:" + dir + "/x.db")
	require.NoError(t, err)
	require.EqualError(t, d.Check(lite, map[string]string{"pg.own": "1"}), "the option 'pg.own' is for postgresql, not for SQLite: leave it out")
	require.NoError(t, d.Check(lite, map[string]string{"sink.on-conflict": "update"}))
}

// What of Flink's options means nothing here is refused with the reason.
func TestForeignOptions(t *testing.T) {
	c := Connector{fakes()}
	given := map[string]string{"connector": "jdbc", "url": "jdbc:mysql://h/d", "table-name": "t", "username": "me", "driver": "com.mysql.cj.jdbc.Driver"}
	require.EqualError(t, connector.CheckOptions("connector 'jdbc'", c.Options(), given), "unsupported option 'driver' for connector 'jdbc': the drivers are part of the program: leave it out")
	delete(given, "driver")
	require.NoError(t, connector.CheckOptions("connector 'jdbc'", c.Options(), given))
	given["pasword"] = "x"
	require.EqualError(t, connector.CheckOptions("connector 'jdbc'", c.Options(), given), "unsupported option 'pasword' for connector 'jdbc'; did you mean 'password'?")
	for _, o := range connector.Offered(c.Options()) {
		require.Empty(t, o.Refused)
	}
	for options, want := range map[string]string{"env:X": "env:X", "file:/x": "file:/x", "x": "****"} {
		require.Equal(t, want, connector.Printable(c.Options(), "password", options))
	}
	_, err := c.address(connector.TableDef{Identifier: connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"}, Options: map[string]string{"url": "jdbc:mysql://h", "username": "me"}})
	require.EqualError(t, err, "table c.d.t, option 'url': jdbc:mysql://h/ names no database; write it as jdbc:mysql://h/shop")
}
