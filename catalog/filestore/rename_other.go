//go:build !linux

package filestore

import "errors"

// renameNew is not to be had everywhere; a link is.
func renameNew(_, _ string) error { return errors.ErrUnsupported }
