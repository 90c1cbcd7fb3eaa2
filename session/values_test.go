package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/sqlparse"
)

// The table of statements has every form that can be parsed, once, and HELP names it, but for variants
// that are refused or that a line stands for.
func TestStatementTable(t *testing.T) {
	lines, refused := map[string]string{}, map[string]bool{}
	for _, f := range families() {
		for _, st := range f.statements {
			require.Empty(t, lines[st.form], st.form)
			require.True(t, (st.run == nil) == (st.refusal != ""), st.form)
			refused[st.form] = st.refusal != ""
			lines[st.form] = f.syntax + " " + f.does
			require.Contains(t, helpText(), f.syntax)
		}
	}
	for _, f := range sqlparse.Forms() {
		if !f.Supported() {
			require.Empty(t, lines[f.Name], f.Name)
			continue
		}
		switch f.Name {
		case "WITH", "VALUES", "TABLE": // are queries, whose form is SELECT
			continue
		}
		require.NotEmpty(t, lines[f.Name], f.Name)
		if f.Name == "INSERT OVERWRITE" || f.Name == "EXECUTE INSERT" || refused[f.Name] {
			continue
		}
		for _, word := range strings.Fields(f.Name) {
			require.Regexp(t, `(?i)\b`+word+`S?\b`, lines[f.Name], f.Name)
		}
	}
}

func TestMatchLike(t *testing.T) {
	for _, c := range []struct {
		s, pattern string
		want       bool
	}{
		{"", "", true}, {"", "%", true}, {"a", "", false}, {"abc", "abc", true}, {"abc", "a%", true}, {"abc", "%c", true},
		{"abc", "a_c", true}, {"ac", "a_c", false}, {"a_c", `a\_c`, true}, {"abc", `a\_c`, false}, {"a%", `a\%`, true},
		{"ab", `a\%`, false}, {`a\`, `a\`, true}, {"größe", "gr_ße", true}, {"aXbXc", "a%X%c", true}, {"aXb", "a%X%c", false},
		{"aab", "a%ab", true}, {"aaab", "%a%b", true}, {"abab", "%ab", true}, {"x", "%%%", true}, {"%", `\%`, true},
		{strings.Repeat("a", 10_000), strings.Repeat("%a", 100) + "b", false},
	} {
		require.Equal(t, c.want, matchLike(c.s, c.pattern), "%.20q LIKE %.20q", c.s, c.pattern)
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		kept string
	}{
		{"1048576", 1 << 20, "1 mb"}, {"64mb", 64 << 20, "64 mb"}, {" 2 GB ", 2 << 30, "2 gb"}, {"1536m", 1536 << 20, "1536 mb"},
		{"3 mib", 3 << 20, "3 mb"}, {"5000000 bytes", 5_000_000, "5000000 bytes"}, {"1 tb", 1 << 40, "1 tb"},
	} {
		n, err := parseSize(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, n, c.text)
		require.Equal(t, c.kept, formatSize(n))
		again, err := parseSize(c.kept)
		require.NoError(t, err)
		require.Equal(t, n, again)
	}
	for _, text := range []string{"", "mb", "-1 mb", "1.5 gb", "9999999999 tb", "1 xb", "0x10"} {
		_, err := parseSize(text)
		require.Error(t, err, text)
	}
}

func TestZones(t *testing.T) {
	for given, kept := range map[string]string{
		"UTC": "UTC", "Z": "UTC", "GMT": "UTC", "Europe/Berlin": "Europe/Berlin", "+02:00": "+02:00", "-0530": "-05:30",
		"GMT+2": "+02:00", "UTC-05:30": "-05:30", "+18": "+18:00", "-00:30": "-00:30",
	} {
		got, err := checkZone(given)
		require.NoError(t, err, given)
		require.Equal(t, kept, got, given)
		require.NotNil(t, location(got))
	}
	for _, given := range []string{"", "Local", "+", "+1:2", "+18:01", "+01:60", "GMT+", "Europe/Berlni", "+1a", "++1", "../etc/passwd", "+123"} {
		_, err := checkZone(given)
		require.Error(t, err, "%q", given)
	}
	_, offset := time.Date(2026, 1, 1, 0, 0, 0, 0, location("-05:30")).Zone()
	require.Equal(t, -(5*60+30)*60, offset)
}

// A short secret is taken out where it stands alone: cutting it out of other words would make messages
// unreadable and, by their gaps, tell the secret.
func TestReplaceSecret(t *testing.T) {
	require.Equal(t, "user ****: wrong password '****'", replaceSecrets("user abc: wrong password 'abc'", []string{"abc"}))
	require.Equal(t, "abcd abc_ xabc ****", replaceSecrets("abcd abc_ xabc abc", []string{"abc"}))
	require.Equal(t, "x****y", replaceSecrets("xhunter2y", []string{"hunter2"}))
	require.Equal(t, "x **** y", replaceSecrets("x hunter2-longer y", []string{"hunter2", "hunter2-longer"}))
	require.Equal(t, "x **** y", replaceSecrets("x pass-word-long-tail y", []string{"word-", "-long-tail", "pass-word-long"}))
}

// Every option accepts its own default, and keeps what it accepted.
func TestOptionsAcceptTheirDefaults(t *testing.T) {
	for _, o := range Options() {
		require.NotEmpty(t, o.Doc, o.Key)
		require.False(t, hasPrefix(o.Key, idlePrefixes()), "%s is also called idle", o.Key)
		values := o.Allowed
		if o.Type == "Enum" || o.Type == "Boolean" {
			require.Contains(t, o.Allowed, o.Default, o.Key)
		}
		for _, v := range values {
			kept, err := o.check(v)
			require.NoError(t, err, "%s = %s", o.Key, v)
			again, err := o.check(kept)
			require.NoError(t, err)
			require.Equal(t, kept, again)
		}
	}
}
