package sqlparse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leadWords are the words of a lead that must be written.
func leadWords(lead string) string {
	var words []string
	depth := 0
	for _, w := range strings.Fields(lead) {
		depth += strings.Count(w, "[")
		if depth == 0 {
			first, _, _ := strings.Cut(strings.Trim(w, "{}"), "|")
			words = append(words, first)
		}
		depth -= strings.Count(w, "]")
	}
	return strings.Join(words, " ")
}

// Every line of the statement table is either refused by its name, or some
// statement of the test files is of that form.
func TestForms(t *testing.T) {
	parsed := map[string]bool{}
	for _, text := range corpus(t) {
		list, _ := split(text)
		for _, s := range list {
			if st, err := Parse(s.Text); err == nil {
				parsed[st.Form()] = true
			}
		}
	}
	// These lines of the table are other ways to write a form that is listed.
	other := map[string]string{"WITH": "SELECT", "VALUES": "SELECT", "TABLE": "SELECT", "EXECUTE INSERT": "INSERT INTO"}
	names := map[string]bool{}
	for _, f := range Forms() {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		require.NotEmpty(t, f.Syntax)
		if f.Supported() {
			name := f.Name
			if o, ok := other[name]; ok {
				name = o
			}
			require.True(t, parsed[name], "no test parses %s", f.Name)
			continue
		}
		_, err := Parse(leadWords(f.Lead) + " x")
		e := err.(*Error)
		require.Equal(t, f.Why, e.Hint, f.Name)
		if f.Why == "" {
			require.Equal(t, f.Name+" is not supported yet", e.Msg)
		} else {
			require.Equal(t, f.Name+" is not supported", e.Msg)
		}
	}
	for name := range parsed {
		require.True(t, names[name], "%s is not in the table", name)
	}
	require.GreaterOrEqual(t, len(names), 85)
}

func TestLeads(t *testing.T) {
	require.Equal(t, [][]string{{"CREATE", "TEMPORARY", "SYSTEM", "FUNCTION"}, {"CREATE", "TEMPORARY", "FUNCTION"}, {"CREATE", "FUNCTION"}},
		leads("CREATE [TEMPORARY [SYSTEM]] FUNCTION"))
	require.Equal(t, [][]string{{"SHOW", "CREATE", "OR", "ALTER", "X"}, {"SHOW", "CREATE", "X"}}, leads("SHOW CREATE [OR ALTER] X"))
	require.Equal(t, [][]string{{"DESCRIBE", "JOB"}, {"DESC", "JOB"}}, leads("{DESCRIBE|DESC} JOB"))
}

func TestNearest(t *testing.T) {
	words := []string{"Customer", "orders", "id"}
	require.Equal(t, "Customer", nearest("customer", words))
	require.Equal(t, "Customer", nearest("custmoer", words))
	require.Equal(t, "orders", nearest("order", words))
	require.Equal(t, "id", nearest("di", words))
	require.Equal(t, "", nearest("x", words))
	require.Equal(t, "", nearest("suppliers", words))
}

// A list of names that are free although Flink or the grammar uses them, and of
// some that are not.
func TestReserved(t *testing.T) {
	for _, w := range strings.Fields("comment key tables first job name type data status total id title") {
		require.False(t, isReserved(w), w)
	}
	for _, w := range strings.Fields("select from where Order group user value date timestamp") {
		require.True(t, isReserved(w), w)
	}
	for w := range keywords {
		require.LessOrEqual(t, len(w), maxKeyword)
	}
}
