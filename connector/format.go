package connector

import (
	"context"
	"io"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Format is how rows are held as bytes, such as csv. It knows nothing of where the bytes are kept.
type Format interface {
	// Identifier is the value of the 'format' option.
	Identifier() string
	// Options are the options of a table in this format; every key begins with the identifier and a point.
	Options() []Option
	// Codec binds the format to the physical columns of a table. The options are checked here, beyond what
	// their declaration says; they may hold other keys, too. A fault is an *OptionError or a *ColumnError.
	Codec(schema types.Schema, options map[string]string) (Codec, error)
	// Infer finds columns that the first rows of a file fit.
	Infer(ctx context.Context, piece Piece, options map[string]string) (types.Schema, error)
}

// ColumnError says that a column of a definition is of a kind that a connector or format cannot have.
type ColumnError struct{ Column, Msg string }

// Error returns the message.
func (e *ColumnError) Error() string { return e.Msg }

// Codec reads and writes the rows of one table. It is used by several goroutines.
type Codec interface {
	// Extension is how the names of files in this format end, such as ".csv".
	Extension() string
	// Decoder reads a piece of a file; columns are the positions in the schema of the columns wanted.
	Decoder(piece Piece, columns []int) (Decoder, error)
	// Encoder writes all columns of the table.
	Encoder() Encoder
	// Cuts returns where a file of this size may be cut into about so many pieces that, read one by one,
	// give the same rows as the whole; nothing when it has to be read in one piece. The first piece begins
	// at the start of the file and is not named.
	Cuts(ctx context.Context, file io.ReaderAt, size int64, pieces int) ([]Place, error)
}

// Place is a place in a file: a byte and the number of lines that end before it.
type Place struct{ Offset, Lines int64 }

// Piece is a part of a file that begins and ends between two rows.
type Piece struct {
	Name string // the file's name, for errors
	// Data are the bytes of the piece; the file, where it can be read at any place, is File.
	Data  io.Reader
	File  io.ReaderAt
	Start Place // where Data begins
	// Last says that the file ends with the piece.
	Last bool
	// Memory is what long rows are reserved from; nil: without limit.
	Memory *Memory
}

// Decoder reads the rows of a piece in order. It is used by one goroutine.
type Decoder interface {
	// Read appends the next rows, at most column.DefaultRows, to empty vectors, one for each column wanted,
	// and returns their number, at least 1. At the end it returns io.EOF.
	Read(cols []*column.Vector) (rows int, err error)
	// Place is the place after the last row returned.
	Place() Place
	// Close gives back what was reserved.
	Close()
}

// Encoder turns rows into bytes. It is used by one goroutine.
type Encoder interface {
	// Header appends what stands once at the beginning of a file.
	Header(dst []byte) []byte
	// Rows appends the first n rows of the vectors, one for each column of the table; a vector that is nil
	// has NULL in every row. A value that the format cannot hold is an *EncodeError.
	Rows(dst []byte, cols []*column.Vector, n int) ([]byte, error)
}

// EncodeError says that a format cannot hold a value.
type EncodeError struct {
	Row    int // among those given
	Column string
	Msg    string
}

// Error returns the message.
func (e *EncodeError) Error() string { return e.Msg }
