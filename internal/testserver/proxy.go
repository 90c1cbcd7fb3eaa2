package testserver

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Direction is which way bytes go.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// Proxy passes connections on to a server, through a filter that may cut them.
type Proxy struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	filter func(Direction, []byte) Verdict
	conns  map[net.Conn]struct{}
	wg     sync.WaitGroup
}

// Verdict is what becomes of bytes that pass.
type Verdict int

// The verdicts.
const (
	Pass       Verdict = iota
	Cut                // the connection is closed both ways; these bytes do not arrive
	PassAndCut         // these bytes arrive, nothing after them, and no answer to them
	Drop               // these bytes are lost, the connection stays
)

// NewProxy starts a proxy in front of host:port; it ends with the test. Its filter is called with what one read
// of a socket gives, from one goroutine at a time; nil passes everything.
func NewProxy(t testing.TB, target string, filter func(Direction, []byte) Verdict) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, filter: filter, conns: map[net.Conn]struct{}{}}
	p.wg.Add(1)
	go p.accept()
	t.Cleanup(p.close)
	return p
}

// Addr is the host:port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetFilter changes the filter.
func (p *Proxy) SetFilter(filter func(Direction, []byte) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.filter = filter
}

// CutAll closes the connections there are.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.CutAll()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	defer p.wg.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.wg.Add(2)
		go p.pump(ToServer, client, server)
		go p.pump(ToClient, server, client)
	}
}

func (p *Proxy) pump(d Direction, from, to net.Conn) {
	defer p.wg.Done()
	defer func() {
		_, _ = from.Close(), to.Close()
		p.mu.Lock()
		delete(p.conns, from)
		delete(p.conns, to)
		p.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			switch p.verdict(d, buf[:n]) {
			case Cut:
				return
			case PassAndCut:
				// The server is to have it before it sees the end, so that only the end of sending is told.
				_, _ = to.Write(buf[:n])
				if c, ok := to.(*net.TCPConn); ok {
					_ = c.CloseWrite()
				}
				_ = from.Close()
				_, _ = io.Copy(io.Discard, to)
				return
			case Drop:
				continue
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, net.ErrClosed) && errors.Is(err, io.EOF) {
				if c, ok := to.(*net.TCPConn); ok {
					_ = c.CloseWrite()
				}
			}
			return
		}
	}
}

func (p *Proxy) verdict(d Direction, b []byte) Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.filter == nil {
		return Pass
	}
	return p.filter(d, b)
}
