package repl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// hostileEngine says one text wherever a text can be said.
type hostileEngine struct {
	*fakeEngine
	text string
}

func (e hostileEngine) Execute(_ context.Context, t session.Text) (*session.Result, rows, error) {
	bad := &session.Error{Msg: e.text, Hint: e.text, Err: &sqlparse.Error{Msg: e.text, Hint: e.text}}
	switch t.SQL {
	case "fail":
		return nil, nil, bad
	case "fail otherwise":
		return nil, nil, errors.New(e.text)
	case "stop":
		return nil, nil, &session.Error{Msg: e.text, Canceled: true}
	case "notice":
		return &session.Result{Kind: session.Notice, Message: e.text}, &fakeRows{}, nil
	case "help":
		return &session.Result{Kind: session.Help, Message: e.text}, &fakeRows{}, nil
	case "break":
		r := &fakeRows{err: bad}
		return &session.Result{Kind: session.Rows, IsQuery: true, Schema: e.schema()}, r, nil
	}
	r := &fakeRows{batches: []*column.Batch{texts([]string{e.text}, []string{"x" + e.text})}}
	return &session.Result{Kind: session.Rows, IsQuery: t.SQL == "query", Schema: e.schema(), Message: e.text}, r, nil
}

func (e hostileEngine) schema() types.Schema {
	return types.Schema{Columns: []types.Column{{Name: e.text, Type: types.String()}}}
}

// Whatever data, names, errors and the names of files are, a terminal gets nothing that it would act on.
func FuzzTerminal(f *testing.F) {
	f.Add("\x1b[2J\x1b]52;c;x\a\r\n\t\u009b\u202e\ufeff\xff")
	f.Add("\x9b31m")
	f.Add("\x1b[2J")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "\x00" {
			return // texts takes it for NULL
		}
		dir := t.TempDir()
		out, err := os.Create(filepath.Join(dir, "out"))
		require.NoError(t, err)
		defer out.Close()
		s := NewScreen(out, out, out)
		s.outTTY, s.errTTY = true, true
		e := hostileEngine{newFake(), text}
		sh := newShell(e, Config{Screen: s})
		for _, format := range formats() {
			e.options["sluice.format"] = format
			sh.run(ctx, textOf("query"), false)
			sh.run(ctx, textOf("show"), len(text)%2 == 0)
		}
		for _, what := range []string{"fail", "fail otherwise", "stop", "notice", "help", "break"} {
			sh.run(ctx, textOf(what), false)
		}
		e.options["sluice.output"] = filepath.Join(dir, "no", text)
		sh.run(ctx, textOf("query"), false)
		e.options["sluice.output"] = filepath.Join(dir, strings.ReplaceAll(text, "/", ""))
		sh.run(ctx, textOf("query"), false)
		for _, w := range []interface{ Write([]byte) (int, error) }{s.Out(), s.Err()} {
			_, err := w.Write([]byte(text))
			require.NoError(t, err)
		}
		require.NoError(t, s.Flush())
		acted(t, "the screen", contents(t, out.Name()), text)
	})
}
