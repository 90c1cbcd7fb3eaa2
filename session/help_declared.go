package session

import (
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// declarer is what declares options of a WITH clause: a type of catalogs, a connector, or a format.
type declarer struct {
	kind, name string
	use        string // how it is named in a statement
	options    []connector.Option
	formats    []string // of a connector
}

const (
	kindCatalog   = "catalog type"
	kindConnector = "connector"
	kindFormat    = "format"
)

// declarers returns them all: of each connector those of its formats behind it.
func (s *Session) declarers() []declarer {
	var list []declarer
	for _, f := range s.registry.Catalogs {
		list = append(list, declarer{kind: kindCatalog, name: f.Type(), options: connector.Offered(f.Options()),
			use: "CREATE CATALOG name WITH ('type' = '" + f.Type() + "', …)"})
	}
	for _, f := range s.registry.Connectors {
		d := declarer{kind: kindConnector, name: f.Identifier(), use: "CREATE TABLE name (column type, …) WITH ('connector' = '" + f.Identifier() + "', …)"}
		var formats []declarer
		for _, o := range f.Options() {
			if o.Key == "format" {
				d.formats = o.Allowed
			}
		}
		for _, name := range d.formats {
			formats = append(formats, declarer{kind: kindFormat, name: name,
				use: "CREATE TABLE name (column type, …) WITH ('connector' = '" + f.Identifier() + "', 'format' = '" + name + "', …)"})
		}
		for _, o := range connector.Offered(f.Options()) {
			head, _, _ := strings.Cut(o.Key, ".")
			if i := slices.Index(d.formats, head); i >= 0 {
				formats[i].options = append(formats[i].options, o)
			} else {
				d.options = append(d.options, o)
			}
		}
		list = append(append(list, d), formats...)
	}
	return list
}

// helpDeclared returns what there is on a topic among catalog types, connectors, formats and the options
// that they declare.
func (s *Session) helpDeclared(topic string) []string {
	topic = strings.ToLower(topic)
	kind := map[string]string{
		"connector": kindConnector, "connectors": kindConnector, "format": kindFormat, "formats": kindFormat,
		"type": kindCatalog, "catalog type": kindCatalog, "catalog types": kindCatalog,
	}[topic]
	var parts []string
	if kind != "" {
		var b strings.Builder
		for _, d := range s.declarers() {
			if d.kind == kind {
				b.WriteString(wrapped(padded(d.name, 18)+"  "+d.use, "  ", strings.Repeat(" ", 22)))
			}
		}
		if b.Len() > 0 {
			parts = append(parts, b.String()+"\nHELP name lists the options of one.\n")
		}
	}
	named := false
	for _, d := range s.declarers() {
		if strings.EqualFold(d.name, topic) {
			named = true
			parts = append(parts, d.help())
		}
	}
	if named {
		return parts
	}
	for _, d := range s.declarers() {
		for _, o := range d.options {
			name := strings.TrimSuffix(o.Key, ".")
			if o.Matches(topic) || strings.EqualFold(o.Key, topic) || o.Prefix && name == topic || strings.HasPrefix(o.Key, strings.TrimSuffix(topic, ".")+".") {
				parts = append(parts, helpOption(o)+wrapped("an option of "+d.kind+" '"+d.name+"': "+d.use, "      ", "      "))
			}
		}
	}
	return parts
}

func (d declarer) help() string {
	var b strings.Builder
	b.WriteString(wrapped(d.kind+" '"+d.name+"'", "  ", "      "))
	b.WriteString(wrapped(d.use, "      ", "      "))
	if len(d.options) == 0 {
		b.WriteString("      It has no options of its own.\n")
	} else {
		b.WriteString("\n")
	}
	for _, o := range d.options {
		b.WriteString(helpOption(o))
	}
	if len(d.formats) > 0 {
		b.WriteString("\n" + wrapped("HELP "+strings.Join(d.formats, "; and HELP ")+"; list the options of the formats.", "  ", "  "))
	}
	return b.String()
}

// helpOption prints one declared option.
func helpOption(o connector.Option) string {
	var b strings.Builder
	head := "'" + o.Key + "'"
	if o.Prefix {
		head = "'" + o.Key + "…'"
	}
	switch {
	case o.Required:
		head += "  required"
	case o.Default != "":
		head += "  default '" + o.Default + "'"
	}
	b.WriteString("  " + head + "\n")
	b.WriteString(wrapped(o.Doc, "      ", "      "))
	if o.Allowed != nil {
		b.WriteString(wrapped("values: '"+strings.Join(o.Allowed, "', '")+"'", "      ", "      "))
	}
	return b.String()
}

// declaredNames returns the topics of helpDeclared.
func (s *Session) declaredNames() []string {
	names := []string{"CONNECTORS", "FORMATS", "CATALOG TYPES", "TYPES"}
	for _, d := range s.declarers() {
		names = append(names, d.name)
		for _, o := range d.options {
			names = append(names, strings.TrimSuffix(o.Key, "."))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
