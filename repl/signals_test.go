package repl

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Signals are heard though nobody reads what a statement prints: the third ends the process, and so does one
// that asks it to end.
func TestSignalsWhileTheScreenIsBlocked(t *testing.T) {
	for name, c := range map[string]struct {
		signals []os.Signal
		code    int
	}{
		"three interrupts": {[]os.Signal{os.Interrupt, os.Interrupt, os.Interrupt}, 130},
		"terminate":        {[]os.Signal{syscall.SIGTERM}, 143},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			require.NoError(t, err)
			screen := NewScreen(null, w, null)
			blocked := make(chan struct{})
			go func() {
				defer close(blocked)
				for range 64 {
					if _, err := (results{screen}).Write(make([]byte, 64<<10)); err != nil {
						return
					}
				}
			}()
			for screen.free(50 * time.Millisecond) { // until the pipe is full
			}
			exited := make(chan int, 1)
			g := &signals{screen: screen, engine: &fakeEngine{}, stop: func() {}, hurry: func() {}, exit: func(code int) {
				select {
				case exited <- code:
				default:
				}
			}}
			ctx, release := g.begin(context.Background())
			for _, s := range c.signals {
				g.handle(s)
			}
			require.Error(t, ctx.Err())
			require.Equal(t, c.code, <-exited)
			release()
			require.NoError(t, r.Close()) // lets the writer go
			<-blocked
			require.NoError(t, w.Close())
			require.NoError(t, null.Close())
		})
	}
}
