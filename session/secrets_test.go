package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// vault is a catalog type with a secret. It cannot be opened with the password "wrong-password", and
// says so as a careless driver does.
type vault struct{ memorycatalog.Factory }

func (vault) Type() string { return "vault" }

func (vault) Options() []connector.Option {
	return []connector.Option{
		{Key: "url", Public: true, Doc: "where it is"},
		{Key: "user", Doc: "who asks"},
		{Key: "password", Required: true, Doc: "the password"},
	}
}

func (f vault) Catalog(name string, properties map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	c, err := f.Factory.Catalog(name, map[string]string{}, r)
	if err != nil {
		return nil, err
	}
	return &vaultCatalog{Catalog: c, password: properties["password"]}, nil
}

type vaultCatalog struct {
	catalog.Catalog
	password string
}

func (c *vaultCatalog) Open(context.Context) error {
	if c.password == "wrong-password" {
		return errors.New("login failed: dsn=db://me:wrong-password@host, password wrong-password refused")
	}
	return nil
}

func (c *vaultCatalog) ListTables(context.Context, string) ([]string, error) {
	return nil, fmt.Errorf("connection lost (password %s)", c.password)
}

// No secret that a catalog was created with is in anything that leaves the session.
func TestSecretsStayInside(t *testing.T) {
	w := newWorld(t, nil)
	s, err := session.New(session.Config{Env: w.env, Catalogs: []catalog.Factory{memorycatalog.Factory{}, vault{}}})
	require.NoError(t, err)
	defer s.Close()
	w.Session = s
	run := func(sql string) string {
		out := w.script(t, sql, false)
		for _, secret := range []string{"wrong-password", "s3cr3t", "alice"} {
			require.NotContains(t, out, secret, sql)
		}
		return out
	}
	require.Equal(t, "ok\n", run("CREATE CATALOG v WITH ('type'='vault', 'url'='db://bob:s3cr3t@host/x', 'user'='alice', 'password'='s3cr3t')"))
	require.Equal(t, "result\nCREATE CATALOG `v`\nWITH (\n  'password' = '****',\n  'type' = 'vault',\n  'url' = 'db://bob:****@host/x',\n  'user' = '****'\n)\n\n",
		run("SHOW CREATE CATALOG v"))
	require.Contains(t, run("SHOW TABLES FROM v.`default`"), "connection lost (password ****)")
	require.Contains(t, run("CREATE CATALOG v2 WITH ('type'='vault', 'password'='wrong-password')"), "password **** refused")
	require.Contains(t, run("CREATE CATALOG v2 WITH ('type'='vault', 'password'='s3cr3t', 'pasword'='s3cr3t')"), "did you mean 'password'?")
	require.Equal(t, "info name | info value\nname | v\ntype | vault\ncomment | \noption:password | ****\noption:url | db://bob:****@host/x\noption:user | ****\n",
		run("DESCRIBE CATALOG EXTENDED v"))
	require.Contains(t, run("ALTER CATALOG v SET ('password'='wrong-password', 'user'='alice')"), "('password'='**************', 'user'='*****')")
	require.Contains(t, run("ALTER CATALOG v SET ('pasword'='wrong-password')"), "did you mean 'password'?")
	require.Equal(t, "ALTER CATALOG v SET ('user'='*****', 'url'='x')", s.Masked("ALTER CATALOG v SET ('user'='alice', 'url'='x')"))
	require.Equal(t, "ALTER TABLE v.d.t SET ('user'='*****')", s.Masked("ALTER TABLE v.d.t SET ('user'='alice')"))
	// Nor where nobody knows whose option it is; what is public everywhere stays readable.
	require.Contains(t, run("ALTER CATALOG nope SET ('foo'='s3cr3t', 'url'='x')"), "SET ('foo'='******', 'url'='x')")
	require.Equal(t, "ALTER CATALOG nope SET ('foo'='*******')", s.Masked("ALTER CATALOG nope SET ('foo'='hunter4')"))
	require.Contains(t, run("CREATE CATALOG v2 WITH ('type'='valt', 'url'='db://h', 'user'='alice')"), "'url'='db://h', 'user'='*****'")
	require.Equal(t, "CREATE TABLE t (a INT) WITH ('connector'='nope', 'url'='x', 'foo'='*******')",
		s.Masked("CREATE TABLE t (a INT) WITH ('connector'='nope', 'url'='x', 'foo'='hunter4')"))
	// Not even where the statement cannot be read.
	require.Contains(t, run("CREATE CATALOG v2 WITH ('type'='vault', 'password'='wrong-password' 'user'='alice')"), "1:")
	require.Contains(t, run("SELECT nope, 's3cr3t' FROM (VALUES 1) AS x (y)"), "******")
}

// What a history keeps of SET shows no value that may be a secret.
func TestMaskedSet(t *testing.T) {
	w := newWorld(t, nil)
	for sql, want := range map[string]string{
		"SET 'security.ssl.passwd' = 'hunter2'":       "SET 'security.ssl.passwd' = '*******'",
		"SET 'rest.credentials.of' = 'hunter2'":       "SET 'rest.credentials.of' = '*******'",
		"SET 's3.access_key' = 'hunter2'":             "SET 's3.access_key' = '*******'",
		"SET 'rest.anything' = 'hunter2'":             "SET 'rest.anything' = '*******'",
		"SET 'nonsense' = 'hunter2'":                  "SET 'nonsense' = '*******'",
		"SET 'pwd' 'hunter2'":                         "SET 'pwd' '*******'", // no statement
		"SET 'pwd' = 'hunter2' and more":              "SET 'pwd' = '*******' *** ****",
		"SET 'parallelism.default' = '3'":             "SET 'parallelism.default' = '3'",
		"SELECT 'jdbc:x://h?user=u&pwd=p', 'pwd=p'":   "SELECT 'jdbc:x://h?user=u&pwd=*', 'pwd=p'",
		"SELECT 'x://h?access-key=p&accessKey=p&a=b'": "SELECT 'x://h?access-key=*&accessKey=*&a=b'",
	} {
		require.Equal(t, want, w.Masked(sql))
	}
}

// A secret that is part of another leaves nothing of it behind.
func TestSecretsOverlap(t *testing.T) {
	w := newWorld(t, nil)
	s, err := session.New(session.Config{Env: w.env, Catalogs: []catalog.Factory{memorycatalog.Factory{}, vault{}}})
	require.NoError(t, err)
	defer s.Close()
	w.Session = s
	w.script(t, "CREATE CATALOG v WITH ('type'='vault', 'user'='pass-', 'password'='pass-word-long'); CREATE CATALOG v3 WITH ('type'='vault', 'user'='word-', 'password'='-long-tail')", false)
	for range 20 { // the order of a map
		require.Contains(t, w.script(t, "SHOW TABLES FROM v.`default`", false), "connection lost (password ****)")
	}
}

// What makes a key secret in SQL makes a parameter of a URL secret wherever it is printed.
func TestSecretWordsAgree(t *testing.T) {
	for _, word := range []string{"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "api-key", "api_key",
		"accesskey", "access-key", "access_key", "privatekey", "private-key", "private_key", "credential", "sslpassword"} {
		require.True(t, sqlparse.IsSecretKey(word), word)
		require.Equal(t, "jdbc:x://h?user=u&"+word+"=****", connector.ScrubURL("jdbc:x://h?user=u&"+word+"=hunter2"))
	}
}

// Masking waits for nothing: the prompt does it to every statement, before anything can be canceled.
func TestMaskingAsksNoCatalog(t *testing.T) {
	w := newWorld(t, nil)
	asked := &askedCatalogs{}
	s, err := session.New(session.Config{Env: w.env, Catalogs: []catalog.Factory{memorycatalog.Factory{}, asked}})
	require.NoError(t, err)
	defer s.Close()
	w.Session = s
	require.Equal(t, "ok\nok\n", w.script(t, "CREATE CATALOG c WITH ('type'='asked'); USE CATALOG c", false))
	asked.times = 0
	for sql, want := range map[string]string{
		"ALTER TABLE c.`default`.t SET ('k'='hunter4')":                   "ALTER TABLE c.`default`.t SET ('k'='*******')",
		"ALTER TABLE t SET ('connector'='print', 'k'='hunter4')":          "ALTER TABLE t SET ('connector'='print', 'k'='*******')",
		"CREATE TABLE c.`default`.t (a INT) WITH ('k'='hunter4')":         "CREATE TABLE c.`default`.t (a INT) WITH ('k'='*******')",
		"EXPLAIN CREATE TABLE t WITH ('k'='hunter4') AS SELECT 1 AS hunt": "EXPLAIN CREATE TABLE t WITH ('k'='*******') AS SELECT 1 AS hunt",
	} {
		require.Equal(t, want, s.Masked(sql))
	}
	require.Zero(t, asked.times)
}

// askedCatalogs makes catalogs that count how often they are asked for a table.
type askedCatalogs struct {
	memorycatalog.Factory
	times int
}

func (*askedCatalogs) Type() string { return "asked" }

func (f *askedCatalogs) Catalog(name string, _ map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	c, err := f.Factory.Catalog(name, map[string]string{}, r)
	return &askedCatalog{c, f}, err
}

type askedCatalog struct {
	catalog.Catalog
	of *askedCatalogs
}

func (c *askedCatalog) Table(ctx context.Context, path catalog.ObjectPath) (*catalog.CatalogTable, error) {
	c.of.times++
	return c.Catalog.Table(ctx, path)
}

// A statement that does not parse leaves no secret in its message, in the lines of it that are shown, or in a
// history, which keeps no value at all.
func TestUnparsedSecrets(t *testing.T) {
	w := newWorld(t, nil)
	for _, sql := range []string{
		"CREATE CATALOG s WITH ('type'='jdbc','password' 'CANARY77')",
		"CREATE CATALOG s WITH ('type'='jdbc','password'=CANARY77)",
		"CREATE CATALOG s WITH ('type'='jdbc','password'=>'CANARY77')",
		"CREATE CATALOG s WITH ('type'='jdbc','password':'CANARY77')",
		"CREATE CATALOG s WITH ('type'='jdbc','password','CANARY77')",
		"ALTER TABLE t SET ('token'='a' 'bCANARY77')",
		"SET password=CANARY77",
		"CREATE CATALOG s WITH ('type'='jdbc',password='CANARY77')",
		"CREATE CATALOG s WITH ('type'='jdbc','pass''word'='CANARY77') garbage",
		"CREATE CATALOG s WITH ('password'='CANARY77) ; SELECT '1'",
		"CREATE CATALOG s WITH ('type'='jdbc, 'password'='CANARY77')",
		"ALTER TABLE t SET ('user'='CANARY77'\n",
	} {
		_, err := w.Execute(context.Background(), session.Text{SQL: sql})
		var e *session.Error
		require.ErrorAs(t, err, &e, sql)
		require.NotContains(t, e.Render()+e.Msg+e.Hint, "CANARY77", sql)
		require.NotContains(t, w.Masked(sql), "CANARY77", sql)
	}
	_, err := w.Execute(context.Background(), session.Text{SQL: "CREATE CATALOG s WITH ('type'='jdbc' 'base-url'='jdbc:sqlite:x')"})
	require.ErrorContains(t, err, "base-url")
	require.Equal(t, "ALTER TABLE t SET ('path'='********'", w.Masked("ALTER TABLE t SET ('path'='CANARY77'"))
}
