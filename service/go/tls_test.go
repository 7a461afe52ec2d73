package espalier_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"espalier.dev/espalier"
	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/servertest"
)

// authority signs certificates of a test and writes them to its folder.
type authority struct {
	t           *testing.T
	folder      string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, folder: t.TempDir()}
	a.write("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true})
	return a
}

// issue writes NAME.crt and NAME.key, whose alternative name is name.
func (a *authority) issue(name string) (cert, key string) {
	a.t.Helper()
	a.write(name, &x509.Certificate{DNSNames: []string{name}})
	return a.path(name + ".crt"), a.path(name + ".key")
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

func (a *authority) write(name string, template *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.check(err)
	a.serial++
	template.SerialNumber = big.NewInt(a.serial)
	template.Subject = pkix.Name{CommonName: name}
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(time.Hour)
	if a.certificate == nil {
		a.certificate, a.key = template, key
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	a.check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	a.check(err)
	a.check(os.WriteFile(a.path(name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	a.check(os.WriteFile(a.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

func (a *authority) check(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// startTLS starts a server that takes clients with a certificate of the authority.
func startTLS(a *authority, flags ...string) *servertest.Server {
	cert, key := a.issue("espalier.test")
	return servertest.StartTCP(a.t, append([]string{
		"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", a.path("ca.crt")}, flags...)...)
}

func TestTLSShowsWhoAsksAndTheServerKnowsWhatTheyMay(t *testing.T) {
	a := newAuthority(t)
	rules := a.path("access.yaml")
	a.check(os.WriteFile(rules, []byte(`rules:
- {who: "certificate:controller.test", may: [read, place, commit, write-state]}
`), 0o600))
	server := startTLS(a, "--access", rules)
	unload := func(name string) error {
		cert, key := a.issue(name)
		client, err := espalier.Dial(server.Address, espalier.WithTLS(espalier.TLS{
			CA: a.path("ca.crt"), Cert: cert, Key: key, ServerName: "espalier.test"}))
		a.check(err)
		defer client.Close()
		calls := pb.NewClusterStateClient(client.Conn())
		if _, err := calls.GetStateSummary(t.Context(), &pb.GetStateSummaryRequest{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = calls.UpdateState(t.Context(), &pb.UpdateStateRequest{})
		return err
	}
	if code := status.Code(unload("controller.test")); code == codes.PermissionDenied {
		t.Error("the controller may not write the state")
	}
	err := unload("dashboard.test")
	if status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(),
		"espalier.v1.ClusterState/UpdateState needs the permission write-state; certificate:dashboard.test may read, place") {
		t.Errorf("got %v", err)
	}
}

func TestTLSWithoutACertificateIsSentAway(t *testing.T) {
	a := newAuthority(t)
	server := startTLS(a)
	client, err := espalier.Dial(server.Address, espalier.WithTLS(espalier.TLS{
		CA: a.path("ca.crt"), ServerName: "espalier.test"}))
	a.check(err)
	defer client.Close()
	_, err = pb.NewClusterStateClient(client.Conn()).GetStateSummary(t.Context(), &pb.GetStateSummaryRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestTLSFilesThatCannotBeUsed(t *testing.T) {
	a := newAuthority(t)
	cert, _ := a.issue("client.test")
	_, other := a.issue("other.test")
	empty := a.path("empty.crt")
	a.check(os.WriteFile(empty, nil, 0o600))
	ca := a.path("ca.crt")
	for _, wrong := range []struct {
		address string
		files   espalier.TLS
		want    string
	}{
		{"127.0.0.1:1", espalier.TLS{}, "no CA"},
		{"127.0.0.1:1", espalier.TLS{CA: a.path("missing")}, "no such file"},
		{"127.0.0.1:1", espalier.TLS{CA: empty}, "holds no certificate"},
		{"127.0.0.1:1", espalier.TLS{CA: ca, Cert: cert}, "needs both Cert and Key"},
		{"127.0.0.1:1", espalier.TLS{CA: ca, Cert: cert, Key: other}, "private key does not match"},
		{"unix:/s", espalier.TLS{CA: ca}, "a unix socket has no TLS"},
	} {
		client, err := espalier.Dial(wrong.address, espalier.WithTLS(wrong.files))
		if err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%+v: got %v, want %q", wrong.files, err, wrong.want)
		}
		if err == nil {
			client.Close()
		}
	}
}
