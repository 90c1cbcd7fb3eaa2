package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/session"
)

// completion is the script that completes the command line in a shell: bash, zsh or fish. The three are
// scripts/completions.
func completion(shell string) string {
	switch shell {
	case "bash":
		return bashCompletion()
	case "zsh":
		return zshCompletion()
	case "fish":
		return fishCompletion()
	}
	panic("a shell that the table of flags does not have: " + shell)
}

const origin = "# Printed from the table of flags by sluice --completion %s\n"

// optionKeys are what -D sets, each with its equals sign.
func optionKeys() (keys []string) {
	for _, o := range session.Options() {
		keys = append(keys, o.Key+"=")
	}
	slices.Sort(keys)
	return keys
}

// written are the ways to write a flag.
func (f cliFlag) written() []string {
	if f.short == "" {
		return []string{"--" + f.name}
	}
	return []string{"-" + f.short, "--" + f.name}
}

func bashCompletion() string {
	var b strings.Builder
	fmt.Fprintf(&b, origin, "bash")
	b.WriteString(`_sluice() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $prev in
`)
	var all []string
	for _, f := range flags() {
		all = append(all, f.written()...)
		if f.value == "" {
			continue
		}
		does := "return"
		switch {
		case f.words != nil:
			does = fmt.Sprintf(`COMPREPLY=($(compgen -W "%s" -- "$cur")); return`, strings.Join(f.words, " "))
		case f.keys:
			does = fmt.Sprintf(`compopt -o nospace; COMPREPLY=($(compgen -W "%s" -- "$cur")); return`, strings.Join(optionKeys(), " "))
		case f.files:
			does = `compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return`
		}
		fmt.Fprintf(&b, "    %s) %s ;;\n", strings.Join(f.written(), "|"), does)
	}
	fmt.Fprintf(&b, `  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "%s" -- "$cur"))
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _sluice sluice
`, strings.Join(all, " "))
	return b.String()
}

func zshCompletion() string {
	var b strings.Builder
	b.WriteString("#compdef sluice\n")
	fmt.Fprintf(&b, origin, "zsh")
	b.WriteString("_sluice_option() {\n  compadd -S '' -- " + strings.Join(optionKeys(), " ") + "\n}\n\n_sluice() {\n  _arguments -s \\\n")
	for _, f := range flags() {
		doc := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "'", `'\''`, ":", `\:`).Replace(f.doc)
		tail := "[" + doc + "]"
		if f.value != "" {
			tail += ":" + strings.ToLower(f.value) + ":"
			switch {
			case f.words != nil:
				tail += "(" + strings.Join(f.words, " ") + ")"
			case f.keys:
				tail += "_sluice_option"
			case f.files:
				tail += "_files"
			}
		}
		for _, w := range f.written() {
			not := "'"
			if f.repeated {
				not += "*"
			} else if f.short != "" {
				not += "(" + strings.Join(f.written(), " ") + ")"
			}
			if f.value != "" {
				if strings.HasPrefix(w, "--") {
					w += "="
				} else {
					w += "+"
				}
			}
			b.WriteString("    " + not + w + tail + "' \\\n")
		}
	}
	b.WriteString("    '*:database:_files'\n}\n\nif [ \"$funcstack[1]\" = \"_sluice\" ]; then\n  _sluice \"$@\"\nelse\n  compdef _sluice sluice\nfi\n")
	return b.String()
}

func fishCompletion() string {
	var b strings.Builder
	fmt.Fprintf(&b, origin, "fish")
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
	}
	for _, f := range flags() {
		b.WriteString("complete -c sluice -l " + f.name)
		if f.short != "" {
			b.WriteString(" -s " + f.short)
		}
		switch {
		case f.value == "":
		case f.words != nil:
			b.WriteString(" -x -a " + quote(strings.Join(f.words, " ")))
		case f.keys:
			b.WriteString(" -x -a " + quote(strings.Join(optionKeys(), " ")))
		case f.files:
			b.WriteString(" -r -F")
		default:
			b.WriteString(" -x")
		}
		b.WriteString(" -d " + quote(f.doc) + "\n")
	}
	return b.String()
}
