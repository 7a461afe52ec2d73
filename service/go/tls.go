package espalier

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// TLS names PEM files, as --tls-... of the commands do.
type TLS struct {
	CA         string // authorities of the server's certificate
	Cert, Key  string // what is shown to the server, both or neither; read with each connection
	ServerName string // that the server's certificate has; empty: the host of the address
}

// WithTLS lets Dial encrypt, and trust a server whose certificate is of the authorities in CA. Dial
// fails where a file cannot be used. Certificate and key are read anew with every connection, so that
// those that replace them are taken up.
func WithTLS(files TLS) Option { return func(c *Client) { c.tls = &files } }

func (t *TLS) transport() (grpc.DialOption, error) {
	if t.CA == "" {
		return nil, errors.New("TLS: no CA; want a PEM file with the authorities of the server's certificate")
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("TLS: a certificate needs both Cert and Key")
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, fmt.Errorf("TLS: CA: %w", err)
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    x509.NewCertPool(),
		ServerName: t.ServerName,
	}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("TLS: CA: %s holds no certificate; want PEM, with BEGIN CERTIFICATE", t.CA)
	}
	if t.Cert != "" {
		if _, err := t.identity(nil); err != nil {
			return nil, err
		}
		config.GetClientCertificate = t.identity
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

func (t *TLS) identity(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("TLS: %s and %s: %w", t.Cert, t.Key, err)
	}
	return &pair, nil
}
