package session

import (
	"context"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// mask goes beyond sqlparse.MaskSecrets, which knows secrets by the names of their keys: every value of a
// WITH clause that its type or connector does not declare public is masked at equal length, so that
// positions stay right, and kept out of messages. So is the value of a SET whose key is none of the
// session's nor a slip for one: nobody knows what it is.
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
	case *sqlparse.AlterCatalog:
		d, err := s.catalogs.Descriptor(st.Name.Name)
		if st.Set == nil || err != nil {
			return
		}
		declared, items = catalogOptions(s.registry, d.Properties), st.Set.Items
	case *sqlparse.AlterTable:
		if o := optionsOf(st); o != nil {
			declared, items = s.alteredOptions(st, o), o.Items
		}
	case *sqlparse.Set:
		if st.Value == nil {
			return
		}
		_, known := s.options.lookup(st.Key.Text)
		if !known && (s.options.nearest(st.Key.Text) == "" || sqlparse.IsSecretKey(st.Key.Text)) {
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
		if _, isSet := stmt.(*sqlparse.Set); !isSet || sqlparse.IsSecretKey(o.Key.Text) {
			x.secrets = append(x.secrets, v)
		}
		at := o.Value.Span()
		for i := at.Start + 1; i < at.End-1 && i < len(text); i++ {
			if text[i] != '\n' {
				text[i] = '*'
			}
		}
	}
	x.masked.SQL = string(text)
}

// alteredOptions returns the declared options of the connector that an ALTER TABLE … SET is about: the one
// that it names, else the table's own.
func (s *Session) alteredOptions(st *sqlparse.AlterTable, set *sqlparse.Options) []connector.Option {
	options := map[string]string{}
	id := s.identifyPermanent(st.Name)
	c, ok := s.catalogs.Live(id.Catalog)
	if ok {
		if t, err := c.Table(context.Background(), catalog.ObjectPath{Database: id.Database, Object: id.Object}); err == nil {
			options = t.Options
		}
	}
	if name, given := set.Get("connector"); given {
		options = map[string]string{"connector": name}
	}
	if c == nil && options["connector"] == "" {
		return nil
	}
	f, _ := s.tableFactory(c, options)
	return tableOptions(f)
}

// secrets returns the values of the session's catalogs that must not be shown.
func (s *Session) secrets() []string {
	var secrets []string
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
	return connector.ScrubURL(replaceSecrets(msg, append(s.secrets(), x.secrets...)))
}

// scrubSource takes the session's secrets out of the strings and comments of a statement's masked text,
// keeping its length. Names and numbers stay as they are written, whatever they are spelt like; so do the
// statement's other strings, since of its own secrets the values themselves are masked already.
func (s *Session) scrubSource(x *execution) string {
	known := s.secrets()
	inStrings := func(piece string) []sqlparse.Span { return findSecrets(piece, known) }
	inComments := func(piece string) []sqlparse.Span { return findSecrets(piece, append(known, x.secrets...)) }
	return sqlparse.MaskSpans(x.masked.SQL, inStrings, inComments)
}

// findSecrets returns where secrets stand in a text.
func findSecrets(text string, secrets []string) []sqlparse.Span {
	var found []sqlparse.Span
	for _, secret := range secrets {
		for from := 0; ; {
			i := strings.Index(text[from:], secret)
			if i < 0 {
				break
			}
			at := sqlparse.Span{Start: from + i, End: from + i + len(secret)}
			from = at.End
			if standsAlone(text, at) || len(secret) >= shortSecret {
				found = append(found, at)
			}
		}
	}
	return found
}

// standsAlone reports whether a piece of a text is no part of a longer word.
func standsAlone(text string, at sqlparse.Span) bool {
	return !endsInWord(text[:at.Start]) && !beginsWithWord(text[at.End:])
}

// shortSecret is the length below which a secret is looked for as a whole word only: shorter ones stand
// in the middle of ordinary words.
const shortSecret = 4

// replaceSecrets replaces secrets by a mask wherever they stand. Where they overlap, as one that is part of
// another, one mask stands for all.
func replaceSecrets(text string, secrets []string) string {
	found := findSecrets(text, secrets)
	sort.Slice(found, func(i, j int) bool { return found[i].Start < found[j].Start })
	var b strings.Builder
	last := 0
	for i := 0; i < len(found); {
		at := found[i]
		for i++; i < len(found) && found[i].Start < at.End; i++ {
			at.End = max(at.End, found[i].End)
		}
		b.WriteString(text[last:at.Start])
		b.WriteString(connector.Mask)
		last = at.End
	}
	b.WriteString(text[last:])
	return b.String()
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
