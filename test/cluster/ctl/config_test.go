package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func testSettings() settings {
	return newSettings(layout{State: "/state", Run: "/run/x", Netns: "/run/netns/x"}, "/usr/sbin/runc", "overlayfs")
}

func TestEveryConfigFileRenders(t *testing.T) {
	for name := range configTargets {
		text, err := renderFile(configFiles, "config/"+name, testSettings())
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(text, "{{") || strings.Contains(text, "<no value>") {
			t.Errorf("%s is not filled:\n%s", name, text)
		}
	}
	entries, err := configFiles.ReadDir("config")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if configTargets[entry.Name()] == "" {
			t.Errorf("config/%s is written nowhere", entry.Name())
		}
	}
}

func TestNetworkConfigIsJSON(t *testing.T) {
	text, err := renderFile(configFiles, "config/cni.conflist", testSettings())
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Name    string
		Plugins []struct{ Type string }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if list.Name != cniName || len(list.Plugins) != 2 || list.Plugins[0].Type != "bridge" {
		t.Errorf("got %+v", list)
	}
}

func TestPodsGetTheCloudsSearchDomain(t *testing.T) {
	text, err := renderFile(configFiles, "config/resolv.conf", testSettings())
	if err != nil {
		t.Fatal(err)
	}
	if want := "nameserver 198.18.0.2\nsearch ec2.internal\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestContentsUseOnlyImagesWeMake(t *testing.T) {
	text, err := contentsText(testSettings())
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for _, i := range images {
		made[i.name] = true
	}
	pods := 0
	for line := range strings.Lines(text) {
		_, after, found := strings.Cut(line, "image: ")
		if !found {
			continue
		}
		pods++
		name, _, _ := strings.Cut(strings.TrimSpace(after), ",")
		if !made[strings.Trim(name, `"`)] {
			t.Errorf("image %s is not made here", name)
		}
	}
	if got := strings.Count(text, "imagePullPolicy: IfNotPresent"); got != pods {
		t.Errorf("%d images, but %d say imagePullPolicy: IfNotPresent", pods, got)
	}
}

func TestAddressesDoNotOverlap(t *testing.T) {
	ranges := []string{nodeAddress + "/24", podRange, serviceRange}
	ranges = append(ranges, documentationRanges...)
	for i, one := range ranges {
		for _, other := range ranges[i+1:] {
			if netip.MustParsePrefix(one).Overlaps(netip.MustParsePrefix(other)) {
				t.Errorf("%s overlaps %s", one, other)
			}
		}
	}
	if !netip.MustParsePrefix(serviceRange).Contains(netip.MustParseAddr(serviceDNS)) {
		t.Errorf("the DNS service %s is not in %s", serviceDNS, serviceRange)
	}
	if !netip.MustParsePrefix(podRange).Contains(netip.MustParseAddr(podGateway)) {
		t.Errorf("the gateway %s is not in %s", podGateway, podRange)
	}
}

func TestKubeconfigRoundTrip(t *testing.T) {
	ca, err := newAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.issue("admin", []string{"system:masters"}, []string{"localhost", "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	text := kubeconfig("admin", ca.certificate, id)
	if _, err := tls.X509KeyPair(kubeconfigField(text, "client-certificate-data"), kubeconfigField(text, "client-key-data")); err != nil {
		t.Fatalf("the key pair does not come back: %v", err)
	}
	block, _ := pem.Decode(id.certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(kubeconfigField(text, "certificate-authority-data")) {
		t.Fatal("the authority does not come back")
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
		t.Errorf("the certificate is not trusted: %v", err)
	}
	if certificate.Subject.CommonName != "admin" || certificate.Subject.Organization[0] != "system:masters" {
		t.Errorf("certificate for %v", certificate.Subject)
	}
}

func TestUserFile(t *testing.T) {
	for user, want := range map[string]string{"admin": "admin", "system:kube-proxy": "kube-proxy", "system:node:node-a": "node-a"} {
		if got := userFile(user); got != want {
			t.Errorf("%s: got %s, want %s", user, got, want)
		}
	}
}

func TestEveryDaemonIsDeclared(t *testing.T) {
	l := layout{State: "/state", Run: "/run/x"}
	all := daemons(l)
	if len(all) != len(daemonNames) {
		t.Errorf("%d daemons, %d names", len(all), len(daemonNames))
	}
	for _, name := range daemonNames {
		if len(all[name].args) == 0 {
			t.Errorf("%s has no arguments", name)
		}
	}
}
