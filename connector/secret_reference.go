package connector

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// The forms of a value that says where a secret is kept, so that no statement has to hold it.
const (
	envReference  = "env:"
	fileReference = "file:"
)

// maxSecret is the size up to which a file is taken for one that holds a secret.
const maxSecret = 64 << 10

// IsSecretReference reports whether the value of a secret option names the place where the secret is kept:
// env:NAME is a variable of the environment, file:PATH a file.
func IsSecretReference(value string) bool {
	return strings.HasPrefix(value, envReference) || strings.HasPrefix(value, fileReference)
}

// ResolveSecret returns the secret that the value of an option stands for: the value itself, or what is kept at
// the place that it names. It is called when the secret is needed, so that definitions keep the name alone. Of a
// file the newline at its end does not count.
func ResolveSecret(key, value string, files *Files) (Secret, error) {
	fault := func(format string, args ...any) (Secret, error) {
		return Secret{}, &OptionError{Key: key, Msg: "option '" + key + "': " + fmt.Sprintf(format, args...)}
	}
	if name, ok := strings.CutPrefix(value, envReference); ok {
		secret, set := os.LookupEnv(name)
		switch {
		case name == "":
			return fault("env: names no variable; write for example 'env:PGPASSWORD'")
		case !set:
			return fault("the environment variable %s is not set", name)
		}
		return NewSecret(secret), nil
	}
	path, ok := strings.CutPrefix(value, fileReference)
	switch {
	case !ok:
		return NewSecret(value), nil
	case path == "":
		return fault("file: names no file; write for example 'file:/home/me/.pgpassword'")
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return fault("there is no file %s", path)
	case err != nil:
		return fault("the file %s cannot be read: %s", path, reasonOf(err))
	case !info.Mode().IsRegular():
		return fault("%s is not a plain file", path)
	case info.Size() > maxSecret:
		return fault("the file %s has %d bytes; one that holds a secret has %d at most", path, info.Size(), maxSecret)
	}
	release, database := files.Plain(info)
	if database != "" {
		return fault("%s is the database of a catalog", path)
	}
	defer release()
	f, err := os.Open(path)
	if err != nil {
		return fault("the file %s cannot be read: %s", path, reasonOf(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err != nil {
		return fault("the file %s cannot be read: %s", path, reasonOf(err))
	}
	return NewSecret(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")), nil
}

// reasonOf is the cause of an error that names the file already.
func reasonOf(err error) string {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
