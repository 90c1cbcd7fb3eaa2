package connector

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// ObjectIdentifier names a table or view: catalog.database.object.
type ObjectIdentifier struct {
	Catalog  string `json:"catalog"`
	Database string `json:"database"`
	Object   string `json:"object"`
	// Temporary says that the object is one of the session's own, which hides whatever the catalog has
	// under this name.
	Temporary bool `json:"temporary,omitempty"`
}

// String returns the identifier as Flink's messages write it: catalog.database.object.
func (id ObjectIdentifier) String() string {
	return id.Catalog + "." + id.Database + "." + id.Object
}

// SQL returns the identifier with each part in back-quotes.
func (id ObjectIdentifier) SQL() string {
	return QuoteName(id.Catalog) + "." + QuoteName(id.Database) + "." + QuoteName(id.Object)
}

// QuoteName returns a name in back-quotes, as the SQL dialect writes identifiers.
func QuoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// JobID identifies a job: 128 random bits.
type JobID [16]byte

// NewJobID returns a random job id.
func NewJobID() JobID {
	var id JobID
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails
	return id
}

// String returns the id as 32 hexadecimal digits.
func (id JobID) String() string { return hex.EncodeToString(id[:]) }

// SameJob reports whether two ids are of one job: a streaming job begins each of its transactions with an id
// that differs from its own in the last four bytes only.
func (id JobID) SameJob(other JobID) bool { return [12]byte(id[:12]) == [12]byte(other[:12]) }

// MarshalText implements encoding.TextMarshaler.
func (id JobID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *JobID) UnmarshalText(text []byte) error {
	if len(text) != 2*len(id) {
		return fmt.Errorf("job id %q: want 32 hexadecimal digits", text)
	}
	_, err := hex.Decode(id[:], text)
	return err
}
