//go:build !linux

package filesystem

import "errors"

func mountSmall(string) error { return errors.ErrUnsupported }

func unmount(string) error { return errors.ErrUnsupported }
