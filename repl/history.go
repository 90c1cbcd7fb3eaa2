package repl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// history is the file of statements typed at the prompt: one JSON string a line, for its owner alone,
// appended under a lock, so that several shells may share it. Secrets are masked before they get here.
type history struct {
	path string // "" keeps none
	last string
}

// historyLines is how many statements can be recalled. The file is shortened to them when it has grown
// to twice as many.
const historyLines = 1000

// optionValue finds the text literals that stand behind an equals sign.
var optionValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`=\s*'(?:[^']|'')*'`) })

// withoutValues masks every such literal. It is for statements that do not parse, of which nobody can
// tell where a secret stands; when they are no definitions they hold none.
func withoutValues(sql string) string {
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(sql)), " ")
	if word == "SELECT" || word == "INSERT" || word == "WITH" || word == "VALUES" {
		return sql
	}
	return optionValue().ReplaceAllString(sql, "= '****'")
}

// lock opens the file under a lock that ends with its Close.
func (h *history) lock() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); err == nil {
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// load returns the statements to recall, oldest first. Lines that are no JSON strings are left out.
func (h *history) load() (list []string, err error) {
	if h.path == "" {
		return nil, nil
	}
	if _, err := os.Lstat(h.path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, err := h.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReader(f)
	for {
		line, rerr := in.ReadBytes('\n')
		var s string
		if json.Unmarshal(line, &s) == nil && s != "" {
			list = append(list, s)
		}
		if rerr != nil {
			break
		}
	}
	if len(list) > historyLines {
		long := len(list) >= 2*historyLines
		list = list[len(list)-historyLines:]
		if long {
			var b bytes.Buffer
			for _, s := range list {
				b.Write(historyLine(s))
			}
			if err := f.Truncate(0); err != nil {
				return list, err
			}
			if _, err := f.Write(b.Bytes()); err != nil {
				return list, err
			}
		}
	}
	if len(list) > 0 {
		h.last = list[len(list)-1]
	}
	return list, nil
}

func historyLine(s string) []byte {
	line, _ := json.Marshal(s) // a string always has a JSON form
	return append(line, '\n')
}

// add appends a statement, unless it is the last one again; added reports whether it did.
func (h *history) add(s string) (added bool, err error) {
	if s == h.last {
		return false, nil
	}
	h.last = s
	if h.path == "" {
		return true, nil
	}
	f, err := h.lock()
	if err != nil {
		return true, err
	}
	_, err = f.Write(historyLine(s))
	return true, errors.Join(err, f.Close())
}

// A recalled statement is edited on one line, where its newlines are shown as ⏎. The mark is the sign
// and a variation selector that nobody types, so that a sign of the user's own stays what it is.
const newlineMark = "⏎\ufe0e"

func oneLine(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", newlineMark)
}

func manyLines(s string) string { return strings.ReplaceAll(s, newlineMark, "\n") }
