package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// stringItems completes the string that is being typed, or the one that would begin at the cursor: a key or a
// value of an option, or the name of a file.
func (c *completing) stringItems() {
	typed, closed := "", false
	if c.typed != nil && c.inString() {
		quote := strings.IndexByte(c.typed.text, '\'')
		if quote != 0 { // U&'…', X'…', "…
			return
		}
		typed = strings.ReplaceAll(c.text[c.typed.Start+1:c.pos], "''", "'")
		closed = c.typed.Class == sqlparse.String && !c.unclosed
	}
	c.prefix = typed
	n := c.at
	if n == 0 {
		return
	}
	key := "" // whose value is wanted
	switch prev := c.toks[n-1]; {
	case prev.text == "=" && n >= 2 && c.toks[n-2].Class == sqlparse.String:
		key = stringMeaning(c.toks[n-2].text)
	case prev.text == "(" || prev.text == ",":
	case n == 1 && prev.word == "SOURCE":
		c.files(typed, closed, nil)
		return
	case n == 2 && prev.word == "JOB":
		c.jobs(c.toks[0].word == "STOP", closed)
		return
	case n == 1 && (prev.word == "SET" || prev.word == "RESET"):
	default:
		return
	}
	switch open := c.openParen(n); {
	case c.toks[0].word == "SET" || c.toks[0].word == "RESET":
		if open < 0 {
			c.sessionOptions(key, closed)
		}
	case open > 0:
		switch c.toks[open-1].word {
		case "WITH", "SET", "RESET":
			c.declaredOptions(open, key, closed)
		}
	}
}

// jobs adds the ids of the jobs of this process, the latest first, or of those only that have not ended.
func (c *completing) jobs(running, closed bool) {
	list := c.s.runtime.Jobs()
	for i := len(list) - 1; i >= 0; i-- {
		if j := list[i]; !running || !j.State.Final() {
			c.literal(j.ID.String(), "", closed, CompleteValue, j.Name+", "+string(j.State))
		}
	}
}

// stringMeaning returns what a string literal means, closed or not.
func stringMeaning(text string) string {
	text = strings.TrimPrefix(text, "'")
	if n := len(text) - len(strings.TrimRight(text, "'")); n%2 == 1 {
		text = text[:len(text)-1]
	}
	return strings.ReplaceAll(text, "''", "'")
}

// literal adds a string that begins as typed; more comes behind it unless the user has written on already.
func (c *completing) literal(value, more string, closed bool, kind CompletionKind, doc string) {
	if !hasPrefixFold(value, c.prefix) {
		return
	}
	text := sqlparse.QuoteString(value)
	if !strings.HasPrefix(text, "'") { // as U&'…', for its characters' sake
		return
	}
	if closed {
		text = strings.TrimSuffix(text, "'")
	} else {
		text += more
	}
	c.add(CompletionItem{Text: text, Kind: kind, Doc: doc})
}

// namedOption adds a key with a name in it: as far as the name, or, when that is there, whole.
func (c *completing) namedOption(o connector.Option, closed bool, more string) {
	before, after, _ := strings.Cut(o.Key, "#.")
	name, ok := strings.CutPrefix(c.prefix, before)
	if i := strings.LastIndexByte(name, '.'); ok && i > 0 {
		c.literal(before+name[:i+1]+after, more, closed, CompleteOption, o.Doc)
	} else if !ok && hasPrefixFold(before, c.prefix) && !closed {
		c.add(CompletionItem{Text: "'" + before, Kind: CompleteOption, Doc: o.Doc})
	}
}

// assignment is what comes behind a key that is to get a value.
func (c *completing) assignment() string {
	rest := strings.TrimLeft(c.rest, " ")
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "'") {
		return ""
	}
	return " = '"
}

// sessionOptions adds the keys of SET and RESET, or the values of one.
func (c *completing) sessionOptions(key string, closed bool) {
	if key == "" {
		for _, o := range Options() {
			more := c.assignment()
			if c.toks[0].word == "RESET" {
				more = ""
			}
			c.literal(o.Key, more, closed, CompleteOption, o.Doc)
		}
		return
	}
	for _, o := range Options() {
		if !strings.EqualFold(o.Key, key) {
			continue
		}
		for _, v := range o.Allowed {
			c.literal(v, "", closed, CompleteValue, "")
		}
		switch key {
		case keyOutput, keyStorePath:
			c.files(c.prefix, closed, nil)
		case keyPager:
			c.literal("auto", "", closed, CompleteValue, "")
			c.literal("off", "", closed, CompleteValue, "")
		}
	}
}

// declaredOptions adds the keys that the parentheses at token open may hold, or the values of one.
func (c *completing) declaredOptions(open int, key string, closed bool) {
	end := c.toks[open].pair
	if end < 0 {
		end = len(c.toks)
	}
	given := map[string]string{}
	for i := open + 1; i < end; i++ {
		t := &c.toks[i]
		if t == c.typed || t.Class != sqlparse.String || c.toks[i-1].text != "(" && c.toks[i-1].text != "," {
			continue
		}
		value := ""
		if i+2 < end && c.toks[i+1].text == "=" && &c.toks[i+2] != c.typed {
			value = stringMeaning(c.toks[i+2].text)
		}
		given[stringMeaning(t.text)] = value
	}
	declared := c.declared(given)
	if key == "" {
		more := c.assignment()
		if c.toks[open-1].word == "RESET" {
			more = ""
		}
		for _, o := range declared {
			if _, has := given[o.Key]; has {
				continue
			}
			if o.Prefix { // a name follows
				if hasPrefixFold(o.Key, c.prefix) && !closed {
					c.add(CompletionItem{Text: "'" + o.Key, Kind: CompleteOption, Doc: o.Doc})
				}
				continue
			}
			if o.Named() { // a name, and more behind it
				c.namedOption(o, closed, more)
				continue
			}
			c.literal(o.Key, more, closed, CompleteOption, o.Doc)
		}
		return
	}
	for _, o := range declared {
		if !o.Matches(key) {
			continue
		}
		for _, v := range o.Allowed {
			c.literal(v, "", closed, CompleteValue, "")
		}
		switch {
		case o.Allowed != nil:
		case o.Begins != nil:
			c.address(o.Begins, closed)
		case o.Key == "path" || strings.HasSuffix(o.Key, "-path") || strings.HasSuffix(o.Key, ".path"):
			c.files(c.prefix, closed, nil)
		case o.Default != "" && o.Public:
			c.literal(o.Default, "", closed, CompleteValue, "")
		}
	}
}

// declared returns the options that the statement's WITH, SET or RESET may name.
func (c *completing) declared(given map[string]string) []connector.Option {
	word := func(i int) string {
		if i < len(c.toks) {
			return c.toks[i].word
		}
		return ""
	}
	r := c.s.registry
	for i := 1; i < 5; i++ {
		switch word(i) {
		case "CATALOG":
			types := make([]string, len(r.Catalogs))
			for k, f := range r.Catalogs {
				types[k] = f.Type()
			}
			if word(0) == "ALTER" {
				if path, _ := c.nameAt(i+1, len(c.toks)); len(path) == 1 {
					given = c.s.catalogProperties(c.ctx, path[0])
				}
			}
			list := connector.Offered(catalogOptions(r, given))
			list[0].Allowed, list[0].Doc = types, "what the catalog is kept in"
			return list
		case "TABLE":
			name := given["connector"]
			if word(0) == "ALTER" {
				name = c.s.optionsNamed(c.ctx, c.targetName(len(c.toks)))["connector"]
			}
			names := make([]string, len(r.Connectors))
			var factory connector.Factory
			for k, f := range r.Connectors {
				names[k] = f.Identifier()
				if f.Identifier() == name {
					factory = f
				}
			}
			if factory == nil && name == "" {
				if cat, ok := c.s.catalogs.Live(c.s.CurrentCatalog()); ok {
					factory = cat.Factory()
				}
			}
			list := connector.Offered(tableOptions(factory))
			list[0].Allowed, list[0].Doc = names, "what the table's rows are kept in"
			return list
		}
	}
	return nil
}

// address adds the beginnings of addresses, and behind that of a SQLite file the files.
func (c *completing) address(begins [][2]string, closed bool) {
	const scheme = "jdbc:sqlite:"
	path, ok := strings.CutPrefix(c.prefix, scheme)
	if !ok {
		for _, b := range begins {
			if strings.HasPrefix(b[0], c.prefix) && b[0] != c.prefix {
				c.add(CompletionItem{Text: "'" + b[0], Kind: CompleteValue, Doc: b[1]})
			}
		}
		return
	}
	c.filesBehind(scheme, path, closed, func(name string) bool {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".db", ".sqlite", ".sqlite3":
			return true
		}
		return false
	})
}

// mostNames is how many names of a folder are looked at.
const mostNames = 10_000

// files adds the files whose names begin as typed.
func (c *completing) files(typed string, closed bool, wanted func(string) bool) {
	c.filesBehind("", typed, closed, wanted)
}

// filesBehind adds files and folders with something written before each, and nothing behind a folder.
func (c *completing) filesBehind(before, typed string, closed bool, wanted func(string) bool) {
	folder, start := "", typed
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		folder, start = typed[:i+1], typed[i+1:]
	}
	type file struct {
		name   string
		folder bool
	}
	list := named(c.ctx, &c.s.names, nameKey("files", folder), func(context.Context) ([]file, error) {
		at := folder
		if at == "" {
			at = "."
		}
		d, err := os.Open(at)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		entries, err := d.ReadDir(mostNames)
		var list []file
		for _, e := range entries {
			f := file{e.Name(), e.IsDir()}
			if e.Type()&os.ModeSymlink != 0 {
				if info, err := os.Stat(filepath.Join(at, e.Name())); err == nil {
					f.folder = info.IsDir()
				}
			}
			list = append(list, f)
		}
		if len(list) > 0 {
			err = nil
		}
		return list, err
	})
	for _, f := range list {
		if !strings.HasPrefix(f.name, start) || strings.HasPrefix(f.name, ".") && !strings.HasPrefix(start, ".") {
			continue
		}
		text := sqlparse.QuoteString(before + folder + f.name)
		if !strings.HasPrefix(text, "'") {
			continue
		}
		switch {
		case f.folder:
			text = strings.TrimSuffix(text, "'") + "/"
		case wanted != nil && !wanted(f.name):
			continue
		case closed:
			text = strings.TrimSuffix(text, "'")
		}
		c.add(CompletionItem{Text: text, Kind: CompleteFile})
	}
}
