package datagen

import (
	"sync"
	"time"
)

// pace hands out the rows of a table at a rate. All readers of a source share it.
type pace struct {
	rate float64 // rows a second
	now  func() time.Time

	mu    sync.Mutex
	start time.Time // when row 0 was due; zero: nobody has asked yet
	taken float64   // rows handed out since start
}

// unpaced is the rate from which on nobody is made to wait.
const unpaced = 1e9

// take hands out up to want rows, or none and how long it is until some are due. So that fast tables come in
// large batches, it waits for the rows of 10 ms.
func (p *pace) take(want int) (n int, wait time.Duration) {
	if p.rate >= unpaced {
		return want, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.start.IsZero() {
		p.start = now
	}
	due := now.Sub(p.start).Seconds()*p.rate + 1 // the first row is due at once
	if late := due - p.taken - max(p.rate, 1); late > 0 {
		p.taken += late // what was not asked for within a second is not caught up with
	}
	batch := min(float64(want), max(1, float64(int64(p.rate/100))))
	if left := due - p.taken; left >= batch {
		n = int(min(left, float64(want)))
		p.taken += float64(n)
		return n, 0
	}
	return 0, time.Duration((batch - due + p.taken) / p.rate * float64(time.Second))
}
