package expr

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// likePattern is a compiled LIKE pattern: pieces of fixed text and single-character wildcards that
// stand between the % signs. The first and last piece are anchored at the ends; those between are taken
// greedily from the left, each at its first match, which never has to be undone: an earlier match leaves
// more text for the rest. A match therefore looks at each byte at most once per length of a piece.
type likePattern struct {
	pieces   []likePiece
	anchored bool // no % at all: the only piece is the whole text
}

// likePiece is fixed text; any[i] says that byte i stands for one character. Without wildcards any is nil.
type likePiece struct {
	text []byte
	any  []bool
}

func compileLike(pattern []byte, escape rune) (*likePattern, error) {
	p := &likePattern{anchored: true}
	var cur likePiece
	wild := false
	flush := func() {
		if !wild {
			cur.any = nil
		}
		p.pieces = append(p.pieces, cur)
		cur, wild = likePiece{}, false
	}
	add := func(b []byte) {
		cur.text = append(cur.text, b...)
		for range b {
			cur.any = append(cur.any, false)
		}
	}
	for rest := pattern; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		switch {
		case escape >= 0 && c == escape:
			rest = rest[n:]
			d, m := utf8.DecodeRune(rest)
			if len(rest) == 0 || d != '%' && d != '_' && d != escape {
				return nil, failure(fmt.Sprintf("LIKE pattern '%s': the escape character '%c' must stand before %%, _ or itself", shorten(pattern), escape), "")
			}
			add(rest[:m])
			n = m
		case c == '%':
			p.anchored = false
			flush()
		case c == '_':
			cur.text = append(cur.text, '_')
			cur.any = append(cur.any, true)
			wild = true
		default:
			add(rest[:n])
		}
		rest = rest[n:]
	}
	flush()
	return p, nil
}

// match reports whether the whole of s fits the pattern.
func (p *likePattern) match(s []byte) bool {
	first := &p.pieces[0]
	n := first.prefix(s)
	if p.anchored {
		return n == len(s)
	}
	if n < 0 {
		return false
	}
	s = s[n:]
	for i := 1; i < len(p.pieces)-1; i++ {
		end := p.pieces[i].find(s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return p.pieces[len(p.pieces)-1].suffix(s)
}

// prefix returns how many bytes of s the piece takes at its start, or -1.
func (p *likePiece) prefix(s []byte) int {
	if p.any == nil {
		if bytes.HasPrefix(s, p.text) {
			return len(p.text)
		}
		return -1
	}
	at := 0
	for i, c := range p.text {
		if at >= len(s) {
			return -1
		}
		if p.any[i] {
			_, n := utf8.DecodeRune(s[at:])
			at += n
			continue
		}
		if s[at] != c {
			return -1
		}
		at++
	}
	return at
}

// find returns where the first match of the piece in s ends, or -1.
func (p *likePiece) find(s []byte) int {
	if p.any == nil {
		i := bytes.Index(s, p.text)
		if i < 0 {
			return -1
		}
		return i + len(p.text)
	}
	for at := 0; ; {
		if n := p.prefix(s[at:]); n >= 0 {
			return at + n
		}
		if at >= len(s) {
			return -1
		}
		_, n := utf8.DecodeRune(s[at:])
		at += n
	}
}

// suffix reports whether s ends with the piece.
func (p *likePiece) suffix(s []byte) bool {
	if p.any == nil {
		return bytes.HasSuffix(s, p.text)
	}
	at := len(s)
	for i := len(p.text) - 1; i >= 0; i-- {
		if at == 0 {
			return false
		}
		if p.any[i] {
			_, n := utf8.DecodeLastRune(s[:at])
			at -= n
			continue
		}
		if s[at-1] != p.text[i] {
			return false
		}
		at--
	}
	return true
}
