package expr

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/types"
)

// maxText is the most bytes that REPEAT, LPAD and RPAD make.
const maxText = 64 << 20

func stringFunctions() []Function {
	str, intType := types.String(), types.Of(types.Int)
	trim := func(name, syntax, doc, example, result string, left, right bool) Function {
		return Function{
			Name: name, Group: "string", Syntax: syntax, Doc: doc, Example: example, Result: result, Min: 1, Max: 2,
			Bind: takes(varyingAs(0), text, text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				set := []byte(" ")
				if len(a) == 2 {
					set = a[1].text(i)
				}
				return append(dst, trimText(a[0].text(i), set, left, right)...), nil
			}),
		}
	}
	substring := func(name, syntax, doc, example, result string, hidden bool) Function {
		return Function{
			Name: name, Group: "string", Syntax: syntax, Doc: doc, Example: example, Result: result, Min: 2, Max: 3, Hidden: hidden,
			Bind: takes(varyingAs(0), textOrBytes, integer, integer), Kernel: substringKernel, Nulls: NullsMade,
			NeverNull: func(args []Expr) bool {
				if len(args) == 2 {
					return true
				}
				n, ok := constInt(args[2])
				return ok && n >= 0
			},
		}
	}
	affix := func(name, doc, example, result string, has func(s, x []byte) bool) Function {
		return Function{
			Name: name, Group: "string", Syntax: name + "(string, part)", Doc: doc, Example: example, Result: result, Min: 2, Max: 2,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				s, t := args[0].Type(), args[1].Type()
				if s.Kind == types.Null {
					s = types.String()
					if t.IsBinary() {
						s = t
					}
				}
				if t.Kind == types.Null {
					t = s
				}
				if !(s.IsString() && t.IsString() || s.IsBinary() && t.IsBinary()) {
					return nil, s, errMismatch
				}
				return []types.Type{s, t}, types.Of(types.Boolean), nil
			},
			Kernel: boolOf(func(a []Arg, i int) (bool, error) { return has(a[0].text(i), a[1].text(i)), nil }),
		}
	}
	pad := func(name, doc, example, result string, left bool) Function {
		return Function{
			Name: name, Group: "string", Syntax: name + "(string, length, pad)", Doc: doc, Example: example, Result: result, Min: 3, Max: 3,
			Nulls: NullsMade, Fallible: true, Bind: takes(returns(str), text, integer, text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return padText(dst, name, a[0].text(i), a[1].int(i), a[2].text(i), left)
			}),
		}
	}
	cased := func(name, doc, example, result string, lo, hi byte, f func(rune) rune) Function {
		const ones, tops = 0x0101010101010101, 0x8080808080808080
		from, beyond := uint64(0x80-lo)*ones, uint64(0x7f-hi)*ones
		return Function{
			Name: name, Group: "string", Syntax: name + "(string)", Doc: doc, Example: example, Result: result, Min: 1, Max: 1,
			Bind: takes(sameAs(0), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x := a[0].text(i)
				start := len(dst)
				dst = append(dst, x...)
				s := dst[start:]
				for len(s) >= 8 {
					// Of eight ASCII characters at once, adding carries into the top bit of those from lo on, and of
					// those beyond hi.
					w := binary.LittleEndian.Uint64(s)
					if w&tops != 0 {
						return appendRunes(dst[:start], x, f), nil
					}
					letters := (w + from) &^ (w + beyond) & tops
					binary.LittleEndian.PutUint64(s, w^letters>>2)
					s = s[8:]
				}
				for j, c := range s {
					if c >= utf8.RuneSelf {
						return appendRunes(dst[:start], x, f), nil
					}
					if lo <= c && c <= hi {
						s[j] = c ^ 0x20
					}
				}
				return dst, nil
			}),
		}
	}
	return []Function{
		{
			Name: "||", Group: "string", Syntax: "string1 || string2", Doc: "The texts, or bytes, one after the other; NULL when one is NULL.",
			Example: "'ab' || 'cd'", Result: "abcd", Min: 2, Max: 2, Hidden: true, Bind: bindConcat, Kernel: textOf(concatRow),
		},
		{
			Name: "CONCAT", Group: "string", Syntax: "CONCAT(string1, string2, …)", Doc: "The texts one after the other; NULL when one is NULL.",
			Example: "CONCAT('a', 'b', 'c')", Result: "abc", Min: 1, Max: -1, Bind: takes(returns(str), text), Kernel: textOf(concatRow),
		},
		{
			Name: "CONCAT_WS", Group: "string", Syntax: "CONCAT_WS(separator, string1, …)",
			Doc:     "The texts joined by the separator, NULLs left out; NULL when the separator is NULL.",
			Example: "CONCAT_WS('-', 'a', NULL, 'c')", Result: "a-c", Min: 1, Max: -1, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				return takes(returns(str.WithNullable(args[0].Type().Nullable())), text)(args)
			},
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				if a[0].null(i) {
					return nil, errNull
				}
				first := true
				for _, x := range a[1:] {
					if x.null(i) {
						continue
					}
					if !first {
						dst = append(dst, a[0].text(i)...)
					}
					first = false
					dst = append(dst, x.text(i)...)
				}
				return dst, nil
			}),
		},
		{
			Name: "CHAR_LENGTH", Aliases: []string{"CHARACTER_LENGTH"}, Group: "string", Syntax: "CHAR_LENGTH(string)", Doc: "The number of characters.",
			Example: "CHAR_LENGTH('größe')", Result: "5", Min: 1, Max: 1, Total: true, Bind: takes(returns(intType), text),
			Kernel: intOf(func(a []Arg, i int) (int64, error) { return int64(utf8.RuneCount(a[0].text(i))), nil }),
		},
		{
			Name: "OCTET_LENGTH", Group: "string", Syntax: "OCTET_LENGTH(string or bytes)", Doc: "The number of bytes, of a text in UTF-8.",
			Example: "OCTET_LENGTH('größe')", Result: "7", Min: 1, Max: 1, Total: true, Bind: takes(returns(intType), textOrBytes),
			Kernel: intOf(func(a []Arg, i int) (int64, error) { return int64(len(a[0].text(i))), nil }),
		},
		cased("UPPER", "The text in upper case.", "UPPER('größe')", "GRÖßE", 'a', 'z', unicode.ToUpper),
		cased("LOWER", "The text in lower case.", "LOWER('ÄBC')", "äbc", 'A', 'Z', unicode.ToLower),
		{
			Name: "INITCAP", Group: "string", Syntax: "INITCAP(string)", Doc: "Every word with its first letter in upper case and the rest in lower case.",
			Example: "INITCAP('good mORNING')", Result: "Good Morning", Min: 1, Max: 1, Bind: takes(sameAs(0), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				inWord := false
				return appendRunes(dst, a[0].text(i), func(c rune) rune {
					letter := unicode.IsLetter(c) || unicode.IsDigit(c)
					first := letter && !inWord
					inWord = letter
					if first {
						return unicode.ToUpper(c)
					}
					return unicode.ToLower(c)
				}), nil
			}),
		},
		{
			Name: "POSITION", Group: "string", Syntax: "POSITION(part IN string)", Doc: "Where the part first stands in the text, from 1; 0 when it does not.",
			Example: "POSITION('c' IN 'abc')", Result: "3", Min: 2, Max: 2, Bind: takes(returns(intType), text, text),
			Kernel: intOf(func(a []Arg, i int) (int64, error) { return position(a[1].text(i), a[0].text(i), 1), nil }),
		},
		{
			Name: "INSTR", Group: "string", Syntax: "INSTR(string, part [, start [, occurrence]])",
			Doc: "Where the part stands in the text, from 1; 0 when it does not. It is looked for from a position on, from one counted " +
				"from the end backwards if that is negative, and the occurrence says which of them is meant.",
			Example: "INSTR('banana', 'an')", Result: "2", Min: 2, Max: 4, Bind: takes(returns(intType), text, text, integer, integer), Fallible: true,
			MayFail: func(c *Call) bool {
				n, ok := int64(1), true
				if len(c.Args) == 4 {
					n, ok = constInt(c.Args[3])
				}
				return !ok || n < 1
			},
			Kernel: intOf(func(a []Arg, i int) (int64, error) {
				from, nth := int64(1), int64(1)
				if len(a) > 2 {
					from = a[2].int(i)
				}
				if len(a) > 3 {
					if nth = a[3].int(i); nth < 1 {
						return 0, failure(fmt.Sprintf("the occurrence in INSTR must be 1 or more, not %d", nth), "")
					}
				}
				return nthPosition(a[0].text(i), a[1].text(i), from, nth), nil
			}),
		},
		{
			Name: "LOCATE", Group: "string", Syntax: "LOCATE(part, string [, from])", Doc: "Where the part first stands in the text at or after a position, from 1; 0 when it does not.",
			Example: "LOCATE('an', 'banana', 3)", Result: "4", Min: 2, Max: 3, Bind: takes(returns(intType), text, text, integer),
			Kernel: intOf(func(a []Arg, i int) (int64, error) {
				from := int64(1)
				if len(a) == 3 {
					from = a[2].int(i)
				}
				return position(a[1].text(i), a[0].text(i), from), nil
			}),
		},
		{
			Name: "TRIM", Group: "string", Syntax: "TRIM([BOTH | LEADING | TRAILING] [characters FROM] string)",
			Doc:     "The text without the characters (blanks) at both ends or one.",
			Example: "TRIM(BOTH 'xy' FROM 'xyayx')", Result: "a", Min: 1, Max: 3,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				if len(args) == 1 {
					return takes(varyingAs(0), text)(args)
				}
				if len(args) != 3 {
					return nil, types.Type{}, errMismatch
				}
				if how, _ := constText(args[0]); how != "BOTH" && how != "LEADING" && how != "TRAILING" {
					return nil, types.Type{}, errMismatch
				}
				return takes(varyingAs(2), text)(args)
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				if len(c.Args) == 1 {
					return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
						return append(dst, bytes.Trim(a[0].text(i), " ")...), nil
					}), nil
				}
				how, _ := constText(c.Args[0])
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					return append(dst, trimText(a[2].text(i), a[1].text(i), how != "TRAILING", how != "LEADING")...), nil
				}), nil
			},
		},
		trim("LTRIM", "LTRIM(string [, characters])", "The text without blanks, or the characters, at its start.", "LTRIM('  a ') || '|'", "a |", true, false),
		trim("RTRIM", "RTRIM(string [, characters])", "The text without blanks, or the characters, at its end.", "RTRIM(' a  ') || '|'", " a|", false, true),
		trim("BTRIM", "BTRIM(string [, characters])", "The text without blanks, or the characters, at both ends.", "BTRIM('--a-', '-')", "a", true, true),
		substring("SUBSTRING", "SUBSTRING(string FROM start [FOR length])",
			"The characters from a position, counted from 1, or from the end if negative; NULL for a negative length.", "SUBSTRING('abcdef' FROM 2 FOR 3)", "bcd", false),
		substring("SUBSTR", "SUBSTR(string, start [, length])", "As SUBSTRING.", "SUBSTR('abcdef', -2)", "ef", false),
		{
			Name: "LEFT", Group: "string", Syntax: "LEFT(string, length)", Doc: "The first characters; none for a negative length.",
			Example: "LEFT('abcdef', 2)", Result: "ab", Min: 2, Max: 2, Bind: takes(returns(str), text, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x := a[0].text(i)
				return append(dst, x[:runeOffset(x, a[1].int(i))]...), nil
			}),
		},
		{
			Name: "RIGHT", Group: "string", Syntax: "RIGHT(string, length)", Doc: "The last characters; none for a negative length.",
			Example: "RIGHT('abcdef', 2)", Result: "ef", Min: 2, Max: 2, Bind: takes(returns(str), text, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x := a[0].text(i)
				n := a[1].int(i)
				if n <= 0 {
					return dst, nil
				}
				return append(dst, x[runeOffset(x, int64(utf8.RuneCount(x))-n):]...), nil
			}),
		},
		{
			Name: "REPEAT", Group: "string", Syntax: "REPEAT(string, times)", Doc: "The text repeated; empty for 0 or fewer times. A result above 64 MiB is an error.",
			Example: "REPEAT('ab', 3)", Result: "ababab", Min: 2, Max: 2, Fallible: true, Bind: takes(returns(str), text, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x, n := a[0].text(i), a[1].int(i)
				if n <= 0 || len(x) == 0 {
					return dst, nil
				}
				if n > maxText/int64(len(x)) {
					return nil, failure(fmt.Sprintf("REPEAT makes %d * %d bytes, more than 64 MiB", n, len(x)), "")
				}
				for ; n > 0; n-- {
					dst = append(dst, x...)
				}
				return dst, nil
			}),
		},
		pad("LPAD", "The text filled at its start to a length, or cut to it; NULL for a negative length or an empty pad.", "LPAD('7', 3, '0')", "007", true),
		pad("RPAD", "The text filled at its end to a length, or cut to it; NULL for a negative length or an empty pad.", "RPAD('ab', 4, '.')", "ab..", false),
		{
			Name: "REPLACE", Group: "string", Syntax: "REPLACE(string, part, replacement)", Doc: "The text with every occurrence of the part replaced.",
			Example: "REPLACE('banana', 'an', 'o')", Result: "booa", Min: 3, Max: 3, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x, part, repl := a[0].text(i), a[1].text(i), a[2].text(i)
				if len(part) == 0 {
					return append(dst, x...), nil
				}
				for {
					j := bytes.Index(x, part)
					if j < 0 {
						return append(dst, x...), nil
					}
					dst = append(append(dst, x[:j]...), repl...)
					x = x[j+len(part):]
				}
			}),
		},
		{
			Name: "OVERLAY", Group: "string", Syntax: "OVERLAY(string PLACING replacement FROM start [FOR length])",
			Doc:     "The text with the characters from a position replaced, as many as the replacement has or the length says; all of them for a negative length.",
			Example: "OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6)", Result: "xxxxxxxxx", Min: 3, Max: 4,
			Bind: takes(returns(str), text, text, integer, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x, repl, from := a[0].text(i), a[1].text(i), a[2].int(i)
				length := int64(utf8.RuneCount(repl))
				if len(a) == 4 {
					length = a[3].int(i)
				}
				if from <= 0 || from > int64(utf8.RuneCount(x)) {
					return append(dst, x...), nil
				}
				start := runeOffset(x, from-1)
				rest := x[start:]
				dst = append(append(dst, x[:start]...), repl...)
				if length < 0 {
					return dst, nil
				}
				return append(dst, rest[runeOffset(rest, length):]...), nil
			}),
		},
		{
			Name: "TRANSLATE", Group: "string", Syntax: "TRANSLATE(string, from, to)",
			Doc: "Each character of the text that stands in from replaced by the one at its place in to, or left out when there is none. " +
				"NULL in the place of from or to is as an empty text.",
			Example: "TRANSLATE('2+[3*x]', '[]', '()')", Result: "2+(3*x)", Min: 3, Max: 3, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				return takes(returns(str.WithNullable(args[0].Type().Nullable())), text)(args)
			},
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				if a[0].null(i) {
					return nil, errNull
				}
				runes := func(x Arg) []rune {
					if x.null(i) {
						return nil
					}
					return []rune(string(x.text(i)))
				}
				from, to := runes(a[1]), runes(a[2])
				return appendRunes(dst, a[0].text(i), func(c rune) rune {
					for k, f := range from {
						if f == c {
							if k < len(to) {
								return to[k]
							}
							return -1
						}
					}
					return c
				}), nil
			}),
		},
		{
			Name: "REVERSE", Group: "string", Syntax: "REVERSE(string)", Doc: "The characters in reverse order.", Example: "REVERSE('añb')", Result: "bña",
			Min: 1, Max: 1, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return appendReversed(dst, a[0].text(i)), nil
			}),
		},
		{
			Name: "SPLIT_INDEX", Group: "string", Syntax: "SPLIT_INDEX(string, separator, index)",
			Doc: "The index-th part, from 0, of the text split at the separator; NULL when there is none. " +
				"The separator may also be the number of a character, 1 to 255.",
			Example: "SPLIT_INDEX('a,b,c', ',', 1)", Result: "b", Min: 3, Max: 3, Nulls: NullsMade,
			Bind: takes(returns(str), text, func(t types.Type) (types.Type, bool) {
				if t.IsInteger() {
					return types.Of(types.BigInt), true
				}
				return text(t)
			}, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x, n := a[0].text(i), a[2].int(i)
				if n < 0 || len(x) == 0 {
					return nil, errNull
				}
				var sep []byte
				if a[1].Type.IsInteger() {
					code := a[1].int(i)
					if code < 1 || code > 255 {
						return nil, errNull
					}
					sep = utf8.AppendRune(nil, rune(code))
				} else {
					sep = a[1].text(i)
				}
				if len(sep) == 0 {
					if n == 0 {
						return append(dst, x...), nil
					}
					return nil, errNull
				}
				for ; ; n-- {
					j := bytes.Index(x, sep)
					if n == 0 {
						if j >= 0 {
							x = x[:j]
						}
						return append(dst, x...), nil
					}
					if j < 0 {
						return nil, errNull
					}
					x = x[j+len(sep):]
				}
			}),
		},
		affix("STARTSWITH", "TRUE when the text begins with the part.", "STARTSWITH('abc', 'ab')", "TRUE", bytes.HasPrefix),
		affix("ENDSWITH", "TRUE when the text ends with the part.", "ENDSWITH('abc', 'ab')", "FALSE", bytes.HasSuffix),
		{
			Name: "ASCII", Group: "string", Syntax: "ASCII(string)", Doc: "The number of the first byte; 0 for an empty text.", Example: "ASCII('A')", Result: "65",
			Min: 1, Max: 1, Bind: takes(returns(intType), text),
			Kernel: intOf(func(a []Arg, i int) (int64, error) {
				if x := a[0].text(i); len(x) > 0 {
					return int64(int8(x[0])), nil
				}
				return 0, nil
			}),
		},
		{
			Name: "CHR", Group: "string", Syntax: "CHR(integer)", Doc: "The character of a number from 0 to 255; larger numbers are taken modulo 256, negative ones give an empty text.",
			Example: "CHR(97)", Result: "a", Min: 1, Max: 1, Bind: takes(returns(str), integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				n := a[0].int(i)
				if n < 0 {
					return dst, nil
				}
				return utf8.AppendRune(dst, rune(n&0xff)), nil
			}),
		},
		{
			Name: "TO_BASE64", Group: "string", Syntax: "TO_BASE64(string or bytes)", Doc: "The bytes, of a text in UTF-8, in base64.", Example: "TO_BASE64('hello')", Result: "aGVsbG8=",
			Min: 1, Max: 1, Bind: takes(returns(str), textOrBytes),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return base64.StdEncoding.AppendEncode(dst, a[0].text(i)), nil
			}),
		},
		{
			Name: "FROM_BASE64", Group: "string", Syntax: "FROM_BASE64(string)", Doc: "The text whose UTF-8 bytes the base64 text spells.", Example: "FROM_BASE64('aGVsbG8=')", Result: "hello",
			Min: 1, Max: 1, Fallible: true, Bind: takes(returns(str), textOrBytes),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				start := len(dst)
				dst, err := base64.StdEncoding.AppendDecode(dst, a[0].text(i))
				if err != nil || !utf8.Valid(dst[start:]) {
					return nil, failure("FROM_BASE64: '"+shorten(a[0].text(i))+"' is not the base64 of a text", "")
				}
				return dst, nil
			}),
		},
		{
			Name: "ENCODE", Group: "string", Syntax: "ENCODE(string, character set)", Doc: "The text's bytes in UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE or UTF-16LE; what the set lacks is '?'.",
			Example: "ENCODE('é', 'ISO-8859-1') = X'E9'", Result: "TRUE", Min: 2, Max: 2, Fallible: true, Bind: takes(returns(types.Bytes()), text, text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return encodeText(dst, a[0].text(i), strings.ToUpper(string(a[1].text(i))))
			}),
		},
		{
			Name: "DECODE", Group: "string", Syntax: "DECODE(bytes, character set)", Doc: "The text of bytes in UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE or UTF-16LE.",
			Example: "DECODE(X'E9', 'ISO-8859-1')", Result: "é", Min: 2, Max: 2, Fallible: true,
			Bind: takes(returns(str), func(t types.Type) (types.Type, bool) {
				if t.Kind == types.Null {
					return types.Bytes(), true
				}
				return t, t.IsBinary()
			}, text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return decodeText(dst, a[0].text(i), strings.ToUpper(string(a[1].text(i))))
			}),
		},
		{
			Name: "URL_ENCODE", Group: "string", Syntax: "URL_ENCODE(string)", Doc: "The text as it stands in a URL's query.", Example: "URL_ENCODE('a b&c')", Result: "a+b%26c",
			Min: 1, Max: 1, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return append(dst, url.QueryEscape(string(a[0].text(i)))...), nil
			}),
		},
		{
			Name: "URL_DECODE", Group: "string", Syntax: "URL_DECODE(string)", Doc: "The text that a URL's query spells; NULL when it does not.", Example: "URL_DECODE('a+b%26c')", Result: "a b&c",
			Min: 1, Max: 1, Nulls: NullsMade, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				s, err := url.QueryUnescape(string(a[0].text(i)))
				if err != nil || !utf8.ValidString(s) {
					return nil, errNull
				}
				return append(dst, s...), nil
			}),
		},
		{
			Name: "PARSE_URL", Group: "string", Syntax: "PARSE_URL(url, part [, key])",
			Doc:     "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO; of QUERY also the value of a key. NULL when it is missing.",
			Example: "PARSE_URL('http://h.org/p?k=v', 'QUERY', 'k')", Result: "v", Min: 2, Max: 3, Nulls: NullsMade, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				key := ""
				if len(a) == 3 {
					key = string(a[2].text(i))
				}
				s, ok := urlPart(string(a[0].text(i)), string(a[1].text(i)), key, len(a) == 3)
				if !ok {
					return nil, errNull
				}
				return append(dst, s...), nil
			}),
		},
		{
			Name: "ELT", Group: "string", Syntax: "ELT(index, value1, …)", Doc: "The index-th of the texts, or of the values of bytes, from 1; NULL when there is none.",
			Example: "ELT(2, 'a', 'b')", Result: "b", Min: 2, Max: -1, Nulls: NullsOwn, Bind: bindElt,
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				if a[0].null(i) {
					return nil, errNull
				}
				n := a[0].int(i)
				if n < 1 || n >= int64(len(a)) || a[n].null(i) {
					return nil, errNull
				}
				return append(dst, a[n].text(i)...), nil
			}),
		},
	}
}

// bindElt types ELT: the result is of the type that all the values have in common.
func bindElt(args []Expr) ([]types.Type, types.Type, error) {
	n, ok := integer(args[0].Type())
	if !ok {
		return nil, types.Type{}, errMismatch
	}
	var ts []types.Type
	for _, a := range args[1:] {
		t, ok := textOrBytes(a.Type())
		if !ok {
			return nil, types.Type{}, errMismatch
		}
		if a.Type().Kind != types.Null {
			ts = append(ts, t)
		}
	}
	w := types.String()
	if len(ts) > 0 {
		if w, ok = types.CommonType(ts...); !ok {
			return nil, types.Type{}, errMismatch
		}
	}
	w = w.AsNullable()
	params := make([]types.Type, len(args))
	for i := range params {
		params[i] = w
	}
	params[0] = n
	return params, w, nil
}

func concatRow(dst []byte, a []Arg, i int) ([]byte, error) {
	for _, x := range a {
		dst = append(dst, x.text(i)...)
	}
	return dst, nil
}

// bindConcat types ||: the lengths add up, and CHAR || CHAR is CHAR.
func bindConcat(args []Expr) ([]types.Type, types.Type, error) {
	s, t := args[0].Type(), args[1].Type()
	if s.Kind == types.Null {
		s = t
	}
	if t.Kind == types.Null {
		t = s
	}
	if s.Kind == types.Null {
		s, t = types.String(), types.String()
	}
	if !(s.IsString() && t.IsString() || s.IsBinary() && t.IsBinary()) {
		return nil, s, errMismatch
	}
	to := s.AsNullable()
	if s.Kind != t.Kind {
		to.Kind = types.VarChar
		if s.IsBinary() {
			to.Kind = types.VarBinary
		}
	}
	to.Precision = min(s.Precision+t.Precision, types.MaxLength)
	if to.Precision == types.MaxLength {
		to = types.String()
		if s.IsBinary() {
			to = types.Bytes()
		}
	}
	return []types.Type{s, t}, to, nil
}

// appendRunes appends the text with every character mapped by f, which may return -1 to drop it.
func appendRunes(dst, x []byte, f func(rune) rune) []byte {
	for len(x) > 0 {
		c, n := utf8.DecodeRune(x)
		if m := f(c); m >= 0 {
			dst = utf8.AppendRune(dst, m)
		}
		x = x[n:]
	}
	return dst
}

// runeOffset returns where the first n characters of x end.
func runeOffset(x []byte, n int64) int {
	if n <= 0 {
		return 0
	}
	if n >= int64(len(x)) {
		return len(x)
	}
	// As long as every byte is a character, n of them are n bytes.
	i := 0
	for ; i < int(n) && x[i] < utf8.RuneSelf; i++ {
	}
	for m := n - int64(i); m > 0 && i < len(x); m-- {
		_, w := utf8.DecodeRune(x[i:])
		i += w
	}
	return i
}

// position returns where part stands in x at or after the character from, counted from 1, or 0.
func position(x, part []byte, from int64) int64 {
	if from < 1 {
		return 0
	}
	start := runeOffset(x, from-1)
	if from-1 > int64(len(x)) {
		return 0
	}
	j := bytes.Index(x[start:], part)
	if j < 0 {
		return 0
	}
	return int64(utf8.RuneCount(x[:start+j])) + 1
}

// nthPosition returns where part stands in x for the nth time, looked for from the character from on or, if that
// is negative, from that character of the end backwards; 0 when it does not.
func nthPosition(x, part []byte, from, nth int64) int64 {
	if from < 0 {
		// Backwards is forwards in the reversed text.
		p := nthPosition(appendReversed(nil, x), appendReversed(nil, part), -max(from, -math.MaxInt64), nth)
		if p == 0 {
			return 0
		}
		return int64(utf8.RuneCount(x)) + 2 - p - int64(utf8.RuneCount(part))
	}
	for {
		p := position(x, part, from)
		if nth--; p == 0 || nth == 0 {
			return p
		}
		from = p + 1
	}
}

// appendReversed appends the characters of x from the last to the first.
func appendReversed(dst, x []byte) []byte {
	for len(x) > 0 {
		_, n := utf8.DecodeLastRune(x)
		dst = append(dst, x[len(x)-n:]...)
		x = x[:len(x)-n]
	}
	return dst
}

// trimText cuts characters of the set off.
func trimText(x, set []byte, left, right bool) []byte {
	if left {
		x = bytes.TrimLeft(x, string(set))
	}
	if right {
		x = bytes.TrimRight(x, string(set))
	}
	return x
}

func substringKernel(c *Call, _ *Env) (Step, error) {
	binary := c.Args[0].Type().IsBinary()
	return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
		x, from := a[0].text(i), a[1].int(i)
		if len(a) == 3 && a[2].int(i) < 0 {
			return nil, errNull
		}
		if from < 0 {
			n := int64(len(x))
			if !binary {
				n = int64(utf8.RuneCount(x))
			}
			if from = n + from + 1; from < 1 {
				return dst, nil
			}
		}
		from = max(from, 1) - 1
		if binary {
			x = x[min(from, int64(len(x))):]
		} else {
			x = x[runeOffset(x, from):]
		}
		if len(a) == 3 {
			n := a[2].int(i)
			if binary {
				x = x[:min(n, int64(len(x)))]
			} else {
				x = x[:runeOffset(x, n)]
			}
		}
		return append(dst, x...), nil
	}), nil
}

func padText(dst []byte, name string, x []byte, length int64, pad []byte, left bool) ([]byte, error) {
	if length < 0 || len(pad) == 0 {
		return nil, errNull
	}
	if length > maxText {
		return nil, failure(fmt.Sprintf("%s to %d characters is more than 64 MiB", name, length), "")
	}
	have := int64(utf8.RuneCount(x))
	if have >= length {
		return append(dst, x[:runeOffset(x, length)]...), nil
	}
	if !left {
		dst = append(dst, x...)
	}
	padRunes := int64(utf8.RuneCount(pad))
	for fill := length - have; fill > 0; fill -= padRunes {
		if fill < padRunes {
			pad = pad[:runeOffset(pad, fill)]
		}
		dst = append(dst, pad...)
	}
	if left {
		dst = append(dst, x...)
	}
	return dst, nil
}

// shorten cuts a text for an error message.
func shorten(b []byte) string {
	if len(b) > 40 {
		return string(b[:runeOffset(b, 40)]) + "…"
	}
	return string(b)
}

func urlPart(s, part, key string, keyed bool) (string, bool) {
	u, err := url.Parse(s)
	if err != nil {
		return "", false
	}
	if keyed {
		if part != "QUERY" {
			return "", false
		}
		for _, pair := range strings.Split(u.RawQuery, "&") {
			if k, v, ok := strings.Cut(pair, "="); ok && k == key {
				return v, true
			}
		}
		return "", false
	}
	var v string
	switch part {
	case "HOST":
		v = u.Hostname()
	case "PATH":
		return u.EscapedPath(), true
	case "QUERY":
		return u.RawQuery, u.RawQuery != "" || u.ForceQuery
	case "REF":
		_, _, marked := strings.Cut(s, "#")
		return u.EscapedFragment(), marked
	case "PROTOCOL":
		v = u.Scheme
	case "FILE":
		v = u.EscapedPath()
		if u.RawQuery != "" || u.ForceQuery {
			v += "?" + u.RawQuery
		}
		return v, true
	case "AUTHORITY", "USERINFO":
		if u.User != nil {
			v = u.User.String()
		}
		if part == "AUTHORITY" {
			if v != "" {
				v += "@"
			}
			v += u.Host
		}
	}
	return v, v != ""
}
