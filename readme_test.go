package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var record = flag.Bool("record", false, "record the session of the README again")

// The session in the README is what happens: its statements are run, and what is printed is compared.
func TestReadmeSession(t *testing.T) {
	const head = "<!-- recorded: go test . -run Readme -args -record -->\n```\n$ ./sluice shop.db\n"
	run, shop := readmeShop(t)
	checkSession(t, head, func(typed string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.db"), shop, 0o644))
		return run(dir, typed, "--on-error", "continue", "shop.db")
	})
}

// readmeShop makes the shop, and returns its file and a function that runs the program with it.
func readmeShop(t *testing.T) (run func(dir, stdin string, args ...string) string, shop []byte) {
	bin := buildSluice(t)
	made := t.TempDir()
	run = func(dir, stdin string, args ...string) string {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "TZ=UTC", "XDG_STATE_HOME="+made, "XDG_CONFIG_HOME="+made)
		out, _ := cmd.CombinedOutput() // statements that fail are part of the session
		return string(out)
	}
	scripts, err := filepath.Abs("scripts")
	require.NoError(t, err)
	run(made, "", "-f", filepath.Join(scripts, "shop.sql"))
	shop, err = os.ReadFile(filepath.Join(made, "shop.db")) // no process has it open
	require.NoError(t, err)
	return run, shop
}

// checkSession runs the session behind head. run is given all that is typed up to a statement, and begins each time
// with the same databases.
func checkSession(t *testing.T, head string, run func(typed string) string) {
	const prompt = "Sluice SQL> "
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(readme), head)
	require.True(t, ok)
	session, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)

	// Each statement as it is shown, with prompts, and as it is typed.
	var shown, typed []string
	for _, line := range strings.Split(session, "\n") {
		switch {
		case strings.HasPrefix(line, prompt):
			shown, typed = append(shown, line+"\n"), append(typed, line[len(prompt):]+"\n")
		case strings.HasPrefix(line, "> ") && len(shown) > 0:
			shown[len(shown)-1] += line + "\n"
			typed[len(typed)-1] += line[2:] + "\n"
		}
	}
	require.Greater(t, len(shown), 5)

	// What the i-th statement prints is what i statements print without what i-1 do.
	place := regexp.MustCompile(`(?m)^<stdin>:(\d+):`)
	failures := regexp.MustCompile(`(?m)^\[INFO\] \d+ statements? of \d+ failed\.\n`) // said at a script's end
	var recorded strings.Builder
	last, lines := "", 0
	for i := range typed {
		out := run(strings.Join(typed[:i+1], ""))
		out = failures.ReplaceAllString(out, "")
		own, ok := strings.CutPrefix(out, last)
		require.True(t, ok, "%s\n----\n%s", out, last)
		last = out
		own = place.ReplaceAllStringFunc(own, func(s string) string {
			n, err := strconv.Atoi(place.FindStringSubmatch(s)[1])
			require.NoError(t, err)
			return fmt.Sprintf("%d:", n-lines)
		})
		lines += strings.Count(typed[i], "\n")
		recorded.WriteString(shown[i] + own)
	}
	if *record {
		require.NoError(t, os.WriteFile("README.md", []byte(before+head+recorded.String()+"```\n"+after), 0o644))
		return
	}
	require.Equal(t, session, recorded.String(), "the README's session is stale: go test . -run Readme -args -record")
}
