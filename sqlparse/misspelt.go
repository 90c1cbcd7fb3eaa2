package sqlparse

import (
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// nearest is the word that s differs from by two edits at most.
func nearest(s string, words []string) string { return types.Nearest(s, words, 2) }

// clauseWords are the keywords that a word inside a statement may have been meant
// for.
const clauseWords = `
ALL AND AS ASC BETWEEN BY CASE CAST CROSS DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FETCH FILTER FROM FULL GROUP
HAVING IN INNER INTERSECT INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION
PARTITIONED PRIMARY COMMENT WATERMARK CONSTRAINT
RIGHT SELECT SET TABLE THEN UNION USING VALUES WHERE WHEN WINDOW WITH`

// misspelt looks for a misspelt keyword in an error of the current token: at the
// token itself, or in the word right before it, which the parser took for an
// alias or a column, such as WHER in FROM t WHER a = 1. Then the error moves there.
func (p *parser) misspelt(e *Error, expected string) {
	t := p.tok
	if s := nearKeyword(t); s != "" {
		e.Hint = "did you mean " + s + "?"
		return
	}
	if t.kind == tokEOF {
		return
	}
	word := p.nameBefore()
	if s := nearKeyword(word); s != "" {
		e.Span = word.span()
		e.Msg = "found " + p.found(word) + " before " + p.found(t) + ", expected " + expected
		e.Hint = "did you mean " + s + "?"
	}
}

// nameBefore returns the token before the current one, unless what is before
// that makes it a name: AS or a dot. The text is read again for it, which only
// errors do.
func (p *parser) nameBefore() token {
	var before, last token
	l := lexer{src: p.lex.src, pos: skipBOM(p.lex.src)}
	for {
		t := l.next()
		if t.kind == tokEOF || t.start >= p.prev {
			break
		}
		before, last = last, t
	}
	if before.kw == "AS" || before.kind == tokOp && before.text == "." {
		return token{}
	}
	return last
}

// nearKeyword returns the keyword that a plain word is a misspelling of. Short
// words may differ by one edit only: most of them are names.
func nearKeyword(t token) string {
	if len(t.text) < 3 {
		return ""
	}
	return nearWord(t, strings.Fields(clauseWords))
}

// nearWord returns the one of some keywords that a plain word is a misspelling of.
func nearWord(t token, words []string) string {
	if t.kind != tokWord || t.reserved {
		return ""
	}
	most := 2
	if len(t.text) <= 5 {
		most = 1
	}
	s := types.Nearest(t.text, words, most)
	if s == t.kw {
		return "" // it is spelt well, but in the wrong place
	}
	return s
}

// unexpectedWord fails at the current token where one of some keywords should be.
func (p *parser) unexpectedWord(words ...string) {
	if s := nearWord(p.tok, words); s != "" && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected "+oneOf(words), "did you mean "+s+"?")
		return
	}
	p.unexpected(oneOf(words))
}

// typeWords are the names of the data types.
const typeWords = `
BOOLEAN TINYINT SMALLINT INT INTEGER BIGINT FLOAT REAL DOUBLE DECIMAL NUMERIC CHAR CHARACTER VARCHAR STRING BINARY
VARBINARY BYTES DATE TIME TIMESTAMP TIMESTAMP_LTZ INTERVAL ARRAY MULTISET MAP ROW`

// TypeNames returns the names of the data types.
func TypeNames() []string { return strings.Fields(typeWords) }

// NearestType returns the name of the data type that a name may have been meant
// for, or "".
func NearestType(name string) string { return nearest(name, strings.Fields(typeWords)) }
