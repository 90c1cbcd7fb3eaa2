package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"

	"github.com/sluice-sql/sluice/types"
)

func hashFunctions() []Function {
	hash := func(name, example, result string, sum func([]byte) []byte, aliases ...string) Function {
		return Function{
			Name: name, Aliases: aliases, Group: "hash", Syntax: name + "(string or bytes)", Doc: "The " + name + " hash of the bytes, of a text in UTF-8, in hexadecimal digits.",
			Example: example, Result: result, Min: 1, Max: 1, Bind: takes(returns(types.String()), textOrBytes),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return hex.AppendEncode(dst, sum(a[0].text(i))), nil
			}),
		}
	}
	return []Function{
		hash("MD5", "MD5('abc')", "900150983cd24fb0d6963f7d28e17f72", sumMD5),
		hash("SHA1", "SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d", sumSHA1),
		hash("SHA224", "LEFT(SHA224('abc'), 8)", "23097d22", sumSHA224),
		hash("SHA256", "LEFT(SHA256('abc'), 8)", "ba7816bf", sumSHA256),
		hash("SHA384", "LEFT(SHA384('abc'), 8)", "cb00753f", sumSHA384),
		hash("SHA512", "LEFT(SHA512('abc'), 8)", "ddaf35a1", sumSHA512),
		{
			Name: "SHA2", Group: "hash", Syntax: "SHA2(string or bytes, bits)", Doc: "The SHA-2 hash of 224, 256, 384 or 512 bits in hexadecimal digits.",
			Example: "LEFT(SHA2('abc', 256), 8)", Result: "ba7816bf", Min: 2, Max: 2, Fallible: true, Bind: takes(returns(types.String()), textOrBytes, integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x := a[0].text(i)
				switch a[1].int(i) {
				case 224:
					return hex.AppendEncode(dst, sumSHA224(x)), nil
				case 256:
					return hex.AppendEncode(dst, sumSHA256(x)), nil
				case 384:
					return hex.AppendEncode(dst, sumSHA384(x)), nil
				case 512:
					return hex.AppendEncode(dst, sumSHA512(x)), nil
				}
				return nil, failure(fmt.Sprintf("SHA2 of %d bits does not exist", a[1].int(i)), "use 224, 256, 384 or 512")
			}),
		},
	}
}

func sumMD5(b []byte) []byte    { s := md5.Sum(b); return s[:] }
func sumSHA1(b []byte) []byte   { s := sha1.Sum(b); return s[:] }
func sumSHA224(b []byte) []byte { s := sha256.Sum224(b); return s[:] }
func sumSHA256(b []byte) []byte { s := sha256.Sum256(b); return s[:] }
func sumSHA384(b []byte) []byte { s := sha512.Sum384(b); return s[:] }
func sumSHA512(b []byte) []byte { s := sha512.Sum512(b); return s[:] }
