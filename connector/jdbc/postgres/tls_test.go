package postgres

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// certificate makes one for localhost, and a file with it.
func certificate(t testing.TB) (tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "root.crt")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// secure stands before a server that speaks no TLS, and speaks it in its place. It returns the port.
func secure(t testing.TB, target string, cert tls.Certificate) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	serve := func(raw net.Conn) {
		defer wg.Done()
		defer raw.Close()
		request := make([]byte, 8) // for TLS
		if _, err := io.ReadFull(raw, request); err != nil {
			return
		}
		if _, err := raw.Write([]byte("S")); err != nil {
			return
		}
		client := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}})
		to, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer to.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(to, client)
			_ = to.Close()
		}()
		_, _ = io.Copy(client, to)
		_ = client.Close()
		<-done
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			wg.Add(1)
			go serve(raw)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// TestTLS: a server is believed whose certificate is what the address asks for, and all goes on over TLS as without.
func TestTLS(t *testing.T) {
	f := setUp(t)
	cert, root := certificate(t)
	_, other := certificate(t)
	port := secure(t, f.ts.Addr(), cert)
	for _, c := range []struct{ host, mode, root, want string }{
		{"localhost", "verify-full", root, ""},
		{"127.0.0.1", "verify-ca", root, ""},
		{"127.0.0.1", "require", "", ""},
		{"127.0.0.1", "prefer", "", ""},
		{"127.0.0.1", "verify-full", root, "the server's certificate is not accepted: x509: cannot validate certificate for 127.0.0.1"},
		{"localhost", "verify-full", other, "the server's certificate is not accepted: x509: certificate signed by unknown authority"},
		{"localhost", "verify-full", "", "the server's certificate is not accepted: x509: certificate signed by unknown authority"},
	} {
		p := map[string]string{"sslmode": c.mode}
		if c.root != "" {
			p["sslrootcert"] = c.root
		}
		err := f.server(net.JoinHostPort(c.host, port), p, nil).Ping(f.ctx, f.db)
		if c.want == "" {
			require.NoError(t, err, c)
		} else {
			require.ErrorContains(t, err, c.want, c)
		}
	}
	s := f.server("localhost:"+port, map[string]string{"sslmode": "verify-full", "sslrootcert": root}, nil)
	var want strings.Builder
	for i := range 20 {
		want.WriteString(batchText(numbers(i*2000, 2000)))
	}
	tx := f.stageOf(s, "t", server.Create, schema(t, "a INT"))
	_, err := f.writeFrom(f.ctx, tx, limited(20))
	require.NoError(t, err)
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.True(t, want.String() == f.text(f.openBy(s, "t")))
	// A read that waits longer than one call of Read, and one that is cancelled.
	f.sql("CREATE VIEW slow AS SELECT n FROM (SELECT n, CASE WHEN n % 100 = 0 THEN pg_sleep(0.15) END FROM generate_series(1, 300) n OFFSET 0) x; CREATE VIEW stuck AS SELECT 1 AS n FROM pg_sleep(60)")
	require.Len(t, strings.Split(f.text(f.openBy(s, "slow")), "\n"), 301)
	stuck := f.openBy(s, "stuck")
	f.cancelled(200*time.Millisecond, func(ctx context.Context) error {
		_, err := f.read(ctx, stuck, connector.Scan{Columns: []int{0}, Limit: -1}, 1)
		return err
	})
	tx = f.stageOf(s, "u", server.Create, schema(t, "a INT"))
	f.cancelled(200*time.Millisecond, func(ctx context.Context) error {
		_, err := f.writeFrom(ctx, tx, limited(1<<30))
		return err
	})
	require.NoError(t, tx.Abort(f.ctx))
}
