package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certificateLife is longer than any test cluster lives.
const certificateLife = 365 * 24 * time.Hour

// identity is a key pair with its certificate, both as PEM.
type identity struct{ certificate, key []byte }

// authority signs the certificates of one cluster.
type authority struct {
	identity
	parsed  *x509.Certificate
	signing *ecdsa.PrivateKey
	now     time.Time
}

func newAuthority(now time.Time) (authority, error) {
	template := certificateTemplate(pkix.Name{CommonName: "dnsprobe test cluster"}, 1, now)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = nil
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, fmt.Errorf("make the cluster authority's key: %w", err)
	}
	id, err := signed(template, template, key, key)
	if err != nil {
		return authority{}, err
	}
	block, _ := pem.Decode(id.certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return authority{}, fmt.Errorf("read the cluster authority's own certificate: %w", err)
	}
	return authority{identity: id, parsed: parsed, signing: key, now: now}, nil
}

// issue makes a certificate for a user (Kubernetes reads the name from the common name and the
// groups from the organizations) and, where hosts are given, for a server.
func (a authority) issue(user string, groups, hosts []string) (identity, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return identity{}, fmt.Errorf("draw a serial number: %w", err)
	}
	template := certificateTemplate(pkix.Name{CommonName: user, Organization: groups}, serial.Int64(), a.now)
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("make the key of %s: %w", user, err)
	}
	return signed(template, a.parsed, key, a.signing)
}

func certificateTemplate(name pkix.Name, serial int64, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      name,
		// Clocks of one machine agree, but a certificate starts at a full second.
		NotBefore:   now.Add(-time.Minute),
		NotAfter:    now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
}

func signed(template, parent *x509.Certificate, key, signing *ecdsa.PrivateKey) (identity, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signing)
	if err != nil {
		return identity{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return identity{}, fmt.Errorf("encode the key of %s: %w", template.Subject.CommonName, err)
	}
	return identity{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

// writeCertificates makes all keys of a new cluster, and a kubeconfig for each of its users.
func writeCertificates(l layout) error {
	ca, err := newAuthority(time.Now())
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.state("ca.crt"), ca.certificate, 0o644); err != nil {
		return fmt.Errorf("write the cluster authority: %w", err)
	}
	serving := []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		"localhost", "127.0.0.1", nodeAddress, serviceAPI,
	}
	for _, pair := range []struct {
		file, user    string
		groups, hosts []string
	}{
		{"apiserver", "kube-apiserver", []string{"system:masters"}, serving},
		{"kubelet-server", nodeName, nil, []string{nodeName, nodeAddress}},
		{"service-accounts", "service-accounts", nil, nil},
	} {
		id, err := ca.issue(pair.user, pair.groups, pair.hosts)
		if err != nil {
			return err
		}
		if err := writePair(l, pair.file, id); err != nil {
			return err
		}
	}
	for user, groups := range map[string][]string{
		"admin":                          {"system:masters"},
		"system:node:" + nodeName:        {"system:nodes"},
		"system:kube-controller-manager": nil,
		"system:kube-scheduler":          nil,
		"system:kube-proxy":              nil,
	} {
		id, err := ca.issue(user, groups, nil)
		if err != nil {
			return err
		}
		text := kubeconfig(user, ca.certificate, id)
		if err := os.WriteFile(l.kubeconfig(userFile(user)), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
		}
	}
	return nil
}

func writePair(l layout, name string, id identity) error {
	if err := os.WriteFile(l.state(name+".crt"), id.certificate, 0o644); err != nil {
		return fmt.Errorf("write the certificate %s: %w", name, err)
	}
	if err := os.WriteFile(l.state(name+".key"), id.key, 0o600); err != nil {
		return fmt.Errorf("write the key %s: %w", name, err)
	}
	return nil
}
