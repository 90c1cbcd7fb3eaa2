package filesystem

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Connector makes tables of files.
type Connector struct {
	// Formats are what the option 'format' can name.
	Formats []connector.Format
	// Files is what the process has open; the same as that of the Env, when there is one.
	Files *connector.Files
}

var (
	_ connector.Factory           = Connector{}
	_ connector.MetadataReader    = Connector{}
	_ connector.SchemaInferrer    = Connector{}
	_ connector.DefinitionChecker = Connector{}
)

// Identifier returns filesystem.
func (Connector) Identifier() string { return "filesystem" }

// Options returns the connector's own options and those of its formats.
func (c Connector) Options() []connector.Option {
	var names []string
	for _, f := range c.Formats {
		names = append(names, f.Identifier())
	}
	list := []connector.Option{
		{Key: "path", Required: true, Public: true, Doc: "a file, or a directory whose files are the table; INSERT needs a directory, which it makes when there is none"},
		{Key: "format", Required: true, Public: true, Allowed: names, Doc: "how the rows are held in the files"},
		{Key: keyPattern, Public: true, Doc: "a regular expression: only files whose whole absolute path it matches are read"},
		{Key: keyInterval, Public: true, Doc: "how often to look for new files, such as 1 s: the table has no end then, and is read in streaming mode"},
	}
	for _, f := range c.Formats {
		list = append(list, f.Options()...)
	}
	return list
}

const (
	keyPattern  = "source.path.regex-pattern"
	keyInterval = "source.monitor-interval"
)

// The metadata of a row.
const (
	metaPath = "file.path"
	metaName = "file.name"
	metaSize = "file.size"
	metaTime = "file.modification-time"
)

// Metadata lists what is known of the file that a row is from.
func (Connector) Metadata() []connector.MetadataColumn {
	text := types.String().AsNotNull()
	return []connector.MetadataColumn{
		{Key: metaPath, Type: text, Doc: "the full path of the file"},
		{Key: metaName, Type: text, Doc: "the name of the file"},
		{Key: metaSize, Type: types.Of(types.BigInt).AsNotNull(), Doc: "the size of the file in bytes"},
		{Key: metaTime, Type: types.WithPrecision(types.TimestampLTZ, 3).AsNotNull(), Doc: "when the file was last changed"},
	}
}

// CheckDefinition says what is wrong with a definition; it looks at no file.
func (c Connector) CheckDefinition(def connector.TableDef) error {
	_, err := c.newTable(def, nil)
	return err
}

// Table opens a table; it looks at no file yet.
func (c Connector) Table(_ context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	t, err := c.newTable(def, env)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", def.Identifier, err)
	}
	return t, nil
}

func (c Connector) newTable(def connector.TableDef, env *connector.Env) (*table, error) {
	if len(def.PartitionKeys) > 0 {
		return nil, fmt.Errorf("PARTITIONED BY is not supported for connector 'filesystem' yet; leave it out")
	}
	path, err := pathOf(def.Options["path"])
	if err != nil {
		return nil, err
	}
	f, err := c.format(def.Options)
	if err != nil {
		return nil, err
	}
	physical := len(def.Schema.Columns) - len(def.Metadata)
	schema := def.Schema
	schema.Columns = schema.Columns[:physical:physical]
	codec, err := f.Codec(schema, def.Options)
	if err != nil {
		return nil, err
	}
	t := &table{id: def.Identifier, schema: def.Schema, physical: physical, codec: codec, path: path, env: env}
	if t.pattern, err = patternOf(def.Options); err != nil {
		return nil, err
	}
	if text, ok := def.Options[keyInterval]; ok {
		if t.interval, err = connector.ParseDuration(text); err != nil {
			return nil, &connector.OptionError{Key: keyInterval, Msg: fmt.Sprintf("option '%s' = '%s' %s", keyInterval, text, err)}
		}
		if t.interval < time.Millisecond {
			return nil, &connector.OptionError{Key: keyInterval, Msg: fmt.Sprintf("option '%s' = '%s' is too short; the least is 1 ms", keyInterval, text)}
		}
	}
	for i, key := range def.Metadata {
		col := def.Schema.Columns[physical+i]
		if !metaFits(key, col.Type) {
			return nil, &connector.ColumnError{Column: col.Name, Msg: fmt.Sprintf("the metadata '%s' cannot be read as %s; declare the column as %s, and CAST it in the query", key, col.Type.AsNullable(), c.metaType(key))}
		}
		t.metadata = append(t.metadata, key)
	}
	return t, nil
}

func (c Connector) metaType(key string) types.Type {
	for _, m := range c.Metadata() {
		if m.Key == key {
			return m.Type.AsNullable()
		}
	}
	return types.String()
}

// metaFits reports whether a metadata column can have a type.
func metaFits(key string, t types.Type) bool {
	switch key {
	case metaSize:
		return t.Kind == types.BigInt
	case metaTime:
		return t.Kind == types.TimestampLTZ
	}
	return t.Kind == types.VarChar && t.Precision == types.MaxLength
}

// format returns the format that the options name. Options of another format are refused.
func (c Connector) format(options map[string]string) (connector.Format, error) {
	var found connector.Format
	for _, f := range c.Formats {
		if f.Identifier() == options["format"] {
			found = f
		}
	}
	if found == nil {
		return nil, &connector.OptionError{Key: "format", Msg: fmt.Sprintf("unknown format '%s'", options["format"])}
	}
	keys := make([]string, 0, len(options))
	for k := range options {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, f := range c.Formats {
		for _, k := range keys {
			if f != found && strings.HasPrefix(k, f.Identifier()+".") {
				return nil, &connector.OptionError{Key: k, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' means nothing in a table of format '%s'", k, found.Identifier())}
			}
		}
	}
	return found, nil
}

var scheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`) })

// pathOf returns the path that the option 'path' names: a path, or a URL of the scheme file.
func pathOf(option string) (string, error) {
	fault := func(format string, args ...any) (string, error) {
		return "", &connector.OptionError{Key: "path", Msg: fmt.Sprintf("option 'path' = '%s' ", option) + fmt.Sprintf(format, args...)}
	}
	path := option
	if m := scheme().FindStringSubmatch(option); m != nil {
		if !strings.EqualFold(m[1], "file") {
			return fault("is not supported: only files of this machine are, not %s", m[1])
		}
		u, err := url.Parse(option)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" {
			return fault("is not the URL of a file, such as file:///data/orders")
		}
		path = u.Path
	}
	if path == "" {
		return fault("is empty")
	}
	if strings.ContainsRune(path, 0) {
		return fault("has a NUL character")
	}
	return filepath.Clean(path), nil
}

// patternOf returns the expression that paths of files have to match; nil: all do.
func patternOf(options map[string]string) (*regexp.Regexp, error) {
	text, ok := options[keyPattern]
	if !ok {
		return nil, nil
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		msg := err.Error()
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			msg = e.Code.String()
		}
		return nil, &connector.OptionError{Key: keyPattern, Msg: fmt.Sprintf("option '%s' = '%s' is not a regular expression: %s", keyPattern, text, msg)}
	}
	return regexp.Compile(`^(?:` + text + `)$`)
}

// Infer proposes columns from the first file that is not empty.
func (c Connector) Infer(ctx context.Context, options map[string]string) (types.Schema, error) {
	path, err := pathOf(options["path"])
	if err != nil {
		return types.Schema{}, err
	}
	f, err := c.format(options)
	if err != nil {
		return types.Schema{}, err
	}
	pattern, err := patternOf(options)
	if err != nil {
		return types.Schema{}, err
	}
	files, err := list(path, pattern)
	if err != nil {
		return types.Schema{}, err
	}
	for _, file := range files {
		if file.info.Size() == 0 {
			continue
		}
		in, err := file.open(c.Files)
		if err != nil {
			return types.Schema{}, pickHelp(err, path, "."+f.Identifier(), file)
		}
		schema, err := f.Infer(ctx, connector.Piece{Name: file.path, Data: in, Last: true}, options)
		if cerr := in.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			err = stranger(err, path, "."+f.Identifier(), file)
		}
		return schema, err
	}
	return types.Schema{}, fmt.Errorf("%s has no file with rows to take columns from", path)
}

// table is an opened table.
type table struct {
	id       connector.ObjectIdentifier
	schema   types.Schema // with the metadata columns
	physical int          // columns that stand in the files
	metadata []string     // keys of the others
	codec    connector.Codec
	path     string
	env      *connector.Env
	pattern  *regexp.Regexp // of the files read; nil: all
	interval time.Duration  // between looks for new files; 0: one look only

	sweeping sync.Once // before the first write
	series   series
}

var (
	_ connector.Scannable = (*table)(nil)
	_ connector.Writable  = (*table)(nil)
	_ connector.Bounded   = (*table)(nil)
)

// Bounded reports whether the files are those of one look.
func (t *table) Bounded() bool { return t.interval == 0 }

// Close does nothing: a table holds nothing open.
func (t *table) Close() error { return nil }

func (t *table) memory() *connector.Memory {
	if t.env == nil {
		return nil
	}
	return t.env.Memory
}

func (t *table) openFiles() *connector.Files {
	if t.env == nil {
		return nil
	}
	return t.env.Files
}
