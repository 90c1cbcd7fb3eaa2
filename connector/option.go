package connector

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/sluice-sql/sluice/types"
)

// Option declares one key of a connector's, format's or catalog's WITH clause.
//
// A key with a part '#', as 'fields.#.kind', stands for every key with a name in that place, which may
// have points itself.
type Option struct {
	Key      string
	Required bool
	Default  string
	Doc      string
	// Public says that the value may be printed. Every other value is masked wherever options appear.
	Public bool
	// Allowed are the values accepted; nil for any.
	Allowed []string
	// Prefix says that Key is a prefix (such as 'sqlite.columns.') followed by a name.
	Prefix bool
	// Secret says that the value is one that [ResolveSecret] takes: what names the place of a secret may be
	// printed, the secret may not.
	Secret bool
	// Begins are how a value may begin, each with what follows; for completion.
	Begins [][2]string
	// Refused says, of an option of Flink's that means nothing here, why it is not taken.
	Refused string
}

// Offered returns the options that are not refused.
func Offered(list []Option) []Option {
	return slices.DeleteFunc(slices.Clone(list), func(o Option) bool { return o.Refused != "" })
}

// Mask is what is printed in place of a secret; given as a value it is refused.
const Mask = "****"

// Secret is a value that must not be seen. Every way of printing it yields Mask; Reveal is for the
// driver call alone.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the value in clear.
func (s Secret) Reveal() string { return s.value }

// String returns Mask.
func (s Secret) String() string { return Mask }

// GoString returns Mask.
func (s Secret) GoString() string { return Mask }

// Format prints Mask whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }

// MarshalText returns Mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// OptionError is a fault in one option. Key is empty when a required option is missing.
type OptionError struct {
	Key string
	Msg string
	// KeyAtFault says that the key should not be there; else its value is wrong.
	KeyAtFault bool
}

// Error returns the message.
func (e *OptionError) Error() string { return e.Msg }

// CheckOptions checks given options against the declared ones: unknown keys (with a suggestion),
// missing required ones, values not allowed, and masked values. what says whose options they are,
// such as "catalog type 'jdbc'".
func CheckOptions(what string, declared []Option, given map[string]string) error {
	keys := make([]string, 0, len(given))
	for k := range given {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		o, ok := lookupOption(declared, k)
		if ok && o.Refused != "" {
			return &OptionError{Key: k, Msg: fmt.Sprintf("unsupported option '%s' for %s: %s", k, what, o.Refused), KeyAtFault: true}
		}
		if !ok {
			declared := Offered(declared)
			names := make([]string, len(declared))
			likely := make([]string, len(declared))
			for i, d := range declared {
				names[i], likely[i] = d.Key, d.keyLike(k)
			}
			msg := fmt.Sprintf("unsupported option '%s' for %s", k, what)
			if s := Closest(k, likely); s != "" {
				msg += fmt.Sprintf("; did you mean '%s'?", s)
			} else {
				msg += "; supported: '" + strings.Join(names, "', '") + "'"
			}
			return &OptionError{Key: k, Msg: msg, KeyAtFault: true}
		}
		v := given[k]
		if v == Mask || v == "******" {
			return &OptionError{Key: k, Msg: fmt.Sprintf("option '%s' has the value %s, which stands for a hidden secret: write the real value", k, v)}
		}
		if o.Allowed != nil && !contains(o.Allowed, v) {
			return &OptionError{Key: k, Msg: fmt.Sprintf("option '%s' = '%s' is not valid; allowed: '%s'", k, printable(o, v), strings.Join(o.Allowed, "', '"))}
		}
	}
	for _, o := range declared {
		if _, ok := given[o.Key]; o.Required && !ok {
			return &OptionError{Msg: fmt.Sprintf("%s needs the option '%s': %s", what, o.Key, o.Doc)}
		}
	}
	return nil
}

func lookupOption(declared []Option, key string) (Option, bool) {
	for _, o := range declared {
		if o.Matches(key) {
			return o, true
		}
	}
	return Option{}, false
}

// Matches reports whether a key is that of the option, or one of those that it stands for.
func (o Option) Matches(key string) bool {
	if o.Key == key && !o.Prefix {
		return !o.Named()
	}
	before, after := o.around()
	return (o.Prefix || o.Named()) && len(key) > len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)
}

// Named reports whether the option's key has a part that stands for a name.
func (o Option) Named() bool { return strings.Contains(o.Key, ".#.") }

// around returns what stands before and after the name in a key that the option stands for.
func (o Option) around() (before, after string) {
	if before, after, ok := strings.Cut(o.Key, ".#."); ok {
		return before + ".", "." + after
	}
	return o.Key, ""
}

// keyLike returns the key of the option, with the name that a key has there which may be meant for it.
func (o Option) keyLike(key string) string {
	before, after := o.around()
	name, ok := strings.CutPrefix(key, before)
	if i := strings.LastIndexByte(name, '.'); ok && o.Named() && i > 0 {
		return before + name[:i] + after
	}
	return o.Key
}

func printable(o Option, v string) string {
	if o.Public {
		return ScrubURL(v)
	}
	if o.Secret && IsSecretReference(v) {
		return v
	}
	return Mask
}

// Printable returns the value of an option as it may be shown: scrubbed of URL passwords when the key
// is declared public, Mask otherwise.
func Printable(declared []Option, key, value string) string {
	o, ok := lookupOption(declared, key)
	if !ok {
		return Mask
	}
	return printable(o, value)
}

// urlParam is compiled at first use: most runs of the program never print an option.
var urlParam = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)((?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|passphrase)=)[^&;\s']*`)
})

// ScrubURL hides the passwords in a URL or connection string, and in those that a text holds.
func ScrubURL(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			break
		}
		i += len("://")
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		if from, to := passwordIn(s[:end]); from < to {
			b.WriteString(s[:from] + Mask)
			s = s[to:]
		}
	}
	b.WriteString(s)
	return urlParam().ReplaceAllString(b.String(), "$1"+Mask)
}

// passwordIn returns where the password stands in what follows the :// of a URL. It may hold any character, so that
// all up to the last @ is taken for it, unless that stands behind the ? of an address that has a host.
func passwordIn(s string) (from, to int) {
	to = strings.LastIndexByte(s, '@')
	if to < 0 {
		return 0, 0
	}
	if q := strings.IndexByte(s[:to], '?'); q >= 0 && !strings.Contains(s[:q], "@") {
		authority, _, _ := strings.Cut(s[:q], "/")
		_, port, _ := strings.Cut(authority, ":")
		if strings.Trim(port, "0123456789") == "" {
			return 0, 0
		}
	}
	from = strings.IndexByte(s[:to], ':') + 1
	if from == 0 {
		return 0, 0
	}
	return from, to
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Closest returns the candidate nearest to name by edits, blind to case, or "" when none is near enough to
// be what was meant.
func Closest(name string, candidates []string) string {
	return types.Nearest(name, candidates, 1+len(name)/3)
}
