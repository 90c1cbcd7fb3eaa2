package session

import (
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// mask goes beyond sqlparse.MaskSecrets, which knows secrets by the names of their keys: every value of a
// WITH clause that its type or connector does not declare public is masked at equal length, so that
// positions stay right, and kept out of messages.
func (s *Session) mask(x *execution) {
	stmt := x.stmt
	if ex, ok := stmt.(*sqlparse.Explain); ok {
		stmt = ex.Statement
	}
	var declared []connector.Option
	var items []sqlparse.Option
	switch st := stmt.(type) {
	case *sqlparse.CreateCatalog:
		typ, _ := st.Options.Get("type")
		declared, items = catalogOptions(s.registry, map[string]string{"type": typ}), st.Options.Items
	case *sqlparse.CreateTable:
		if st.Options == nil {
			return
		}
		options := map[string]string{}
		if name, ok := st.Options.Get("connector"); ok {
			options["connector"] = name
		}
		c, _ := s.catalogs.Live(s.identify(st.Name).Catalog)
		if c == nil {
			c, _ = s.catalogs.Live(s.CurrentCatalog())
		}
		f, _ := s.tableFactory(c, options)
		declared, items = tableOptions(f), st.Options.Items
	case *sqlparse.Set:
		if st.Value != nil && sqlparse.IsSecretKey(st.Key.Text) {
			items = []sqlparse.Option{{Key: st.Key, Value: st.Value}}
		}
	}
	if len(items) == 0 {
		return
	}
	text := []byte(x.masked.SQL)
	for _, o := range items {
		v := o.Value.Text
		if v == "" || connector.Printable(declared, o.Key.Text, v) == v {
			continue
		}
		x.secrets = append(x.secrets, v)
		at := o.Value.Span()
		for i := at.Start + 1; i < at.End-1 && i < len(text); i++ {
			if text[i] != '\n' {
				text[i] = '*'
			}
		}
	}
	x.masked.SQL = string(text)
}

// secretsOf returns every value that must not be shown: those of the session's catalogs and of the
// statement at hand.
func (s *Session) secretsOf(x *execution) []string {
	secrets := x.secrets
	for _, name := range s.catalogs.ListCatalogs() {
		d, err := s.catalogs.Descriptor(name)
		if err != nil {
			continue // dropped meanwhile
		}
		declared := catalogOptions(s.registry, d.Properties)
		for k, v := range d.Properties {
			if v != "" && connector.Printable(declared, k, v) != v {
				secrets = append(secrets, v)
			}
		}
	}
	return secrets
}

// scrub takes the session's secrets and the passwords of URLs out of a message.
func (s *Session) scrub(x *execution, msg string) string {
	if msg == "" {
		return ""
	}
	for _, secret := range s.secretsOf(x) {
		msg = replaceSecret(msg, secret, connector.Mask)
	}
	return connector.ScrubURL(msg)
}

// scrubSource takes the session's secrets out of a statement's text, keeping its length.
func (s *Session) scrubSource(x *execution, text string) string {
	for _, secret := range s.secretsOf(x) {
		text = replaceSecret(text, secret, strings.Repeat("*", len(secret)))
	}
	return text
}

// shortSecret is the length below which a secret is looked for as a whole word only: shorter ones stand
// in the middle of ordinary words.
const shortSecret = 4

// replaceSecret replaces a secret wherever it stands.
func replaceSecret(text, secret, with string) string {
	if len(secret) >= shortSecret {
		return strings.ReplaceAll(text, secret, with)
	}
	var b strings.Builder
	for {
		i := strings.Index(text, secret)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(secret)
		b.WriteString(text[:i])
		if endsInWord(text[:i]) || beginsWithWord(text[end:]) {
			b.WriteString(secret)
		} else {
			b.WriteString(with)
		}
		text = text[end:]
	}
}

func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isWord(r)
}

func beginsWithWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}
