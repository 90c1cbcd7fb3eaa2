package session

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// mask goes beyond sqlparse.MaskSecrets, which knows secrets by the names of their keys: every value of a
// WITH clause that its type or connector does not declare public is masked at equal length, so that
// positions stay right, and kept out of messages. So is the value of a SET whose key is none of the
// session's nor a slip for one: nobody knows what it is. Where the options' owner is not known without asking
// a catalog or a disk, which this must not wait for, only what is public wherever it is an option stays.
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
		declared, items = s.optionsOfType(typ), st.Options.Items
	case *sqlparse.CreateTable:
		if st.Options == nil {
			return
		}
		if name, ok := st.Options.Get("connector"); ok {
			declared = s.optionsOfConnector(name)
		} else {
			declared = s.optionsWithoutConnector(st.Name)
		}
		items = st.Options.Items
	case *sqlparse.AlterCatalog:
		if st.Set == nil {
			return
		}
		d, _ := s.catalogs.Known(st.Name.Name)
		declared, items = s.optionsOfType(d.Properties["type"]), st.Set.Items
	case *sqlparse.AlterTable:
		if o := optionsOf(st); o != nil {
			name, _ := o.Get("connector")
			declared, items = s.optionsOfConnector(name), o.Items
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
		if v == "" || connector.Printable(declared, o.Key.Text, v) == v || s.isSlip(stmt, declared, o.Key.Text, v) {
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

// maskUnparsed does what mask does to a statement that does not parse. Of its words all that may be secret is
// kept out of the message too, which may name one.
func (s *Session) maskUnparsed(x *execution) {
	var declared []connector.Option
	public := func(word, key string) bool {
		if word == "SET" {
			if _, known := s.options.lookup(key); known {
				return true
			}
		}
		if declared == nil {
			declared = s.plainlyPublic()
		}
		return slices.ContainsFunc(declared, func(o connector.Option) bool { return o.Key == key })
	}
	x.masked.SQL = sqlparse.MaskUnparsed(x.text.SQL, public)
	for _, at := range sqlparse.UnparsedSecrets(x.text.SQL, public) {
		if secret := x.text.SQL[at.Start:at.End]; strings.ContainsFunc(secret, isWord) {
			x.secrets = append(x.secrets, secret)
		}
	}
}

// optionsOfType returns the declared options of a catalog type; of one that is not known, plainlyPublic.
func (s *Session) optionsOfType(typ string) []connector.Option {
	if s.registry.Factory(typ) == nil {
		return s.plainlyPublic()
	}
	return catalogOptions(s.registry, map[string]string{"type": typ})
}

// optionsOfConnector returns the declared options of a connector; of one that is not known, plainlyPublic.
func (s *Session) optionsOfConnector(name string) []connector.Option {
	for _, f := range s.registry.Connectors {
		if f.Identifier() == name {
			return tableOptions(f)
		}
	}
	return s.plainlyPublic()
}

// optionsWithoutConnector returns the options that a new table of a catalog may have without a connector.
func (s *Session) optionsWithoutConnector(name sqlparse.ObjectName) []connector.Option {
	in := s.CurrentCatalog()
	if len(name.Parts) == 3 {
		in = name.Parts[0].Name
	}
	c, ok := s.catalogs.Live(in)
	if !ok {
		return s.plainlyPublic()
	}
	return tableOptions(c.Factory())
}

// plainlyPublic returns the options that are public in every connector and catalog type that has them.
func (s *Session) plainlyPublic() []connector.Option {
	all := []connector.Option{{Key: "connector", Public: true}, {Key: "type", Public: true}}
	for _, f := range s.registry.Catalogs {
		all = append(all, f.Options()...)
	}
	for _, f := range s.registry.Connectors {
		all = append(all, f.Options()...)
	}
	secret := map[string]bool{}
	for _, o := range all {
		secret[o.Key] = secret[o.Key] || !o.Public || sqlparse.IsSecretKey(o.Key)
	}
	return slices.DeleteFunc(all, func(o connector.Option) bool { return secret[o.Key] || o.Prefix || o.Named() })
}

// secrets returns the values that must not be shown of the catalogs that this session has used.
func (s *Session) secrets() []string {
	var secrets []string
	for _, d := range s.catalogs.AllKnown() {
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

// findSecrets returns where secrets stand in a text, as they are or as a literal of SQL has them.
func findSecrets(text string, secrets []string) []sqlparse.Span {
	var found []sqlparse.Span
	forms := slices.Clone(secrets)
	for _, secret := range secrets {
		if strings.Contains(secret, "'") {
			forms = append(forms, strings.ReplaceAll(secret, "'", "''"))
		}
	}
	for _, secret := range forms {
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
