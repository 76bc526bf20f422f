package main

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed config
var configFiles embed.FS

// settings is what the templates below config and manifests may use.
type settings struct {
	layout
	Node, NodeAddress, OutsideAddress      string
	PodRange, PodGateway, ServiceRange     string
	ServiceDNS, APIPort, Bridge, PodBridge string
	CNIName, Cgroup, Snapshotter, Runc     string
	AgentImage, SandboxImage               string
	Images                                 map[string]string
}

func newSettings(l layout, runc, snapshotter string) settings {
	s := settings{
		layout: l, Node: nodeName, NodeAddress: nodeAddress, OutsideAddress: outsideAddress,
		PodRange: podRange, PodGateway: podGateway, ServiceRange: serviceRange,
		ServiceDNS: serviceDNS, APIPort: apiPort, Bridge: bridgeName, PodBridge: podBridge,
		CNIName: cniName, Cgroup: "/" + cgroupName, Snapshotter: snapshotter, Runc: runc,
		Images: map[string]string{},
	}
	for _, i := range images {
		s.Images[i.key] = i.name
	}
	s.SandboxImage = s.Images["pause"]
	return s
}

// configTargets says where each rendered file goes below the state folder.
var configTargets = map[string]string{
	"containerd.toml": "containerd.toml",
	"cni.conflist":    "cni/10-dnsprobe.conflist",
	"kubelet.yaml":    "kubelet.yaml",
	"kube-proxy.yaml": "kube-proxy.yaml",
	"resolv.conf":     "resolv.conf",
	"audit.yaml":      "audit.yaml",
}

// renderFile fills one embedded file; a template that asks for something unknown is an error.
func renderFile(files embed.FS, name string, s settings) (string, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the template %s: %w", name, err)
	}
	parsed, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("read the template %s: %w", name, err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, s); err != nil {
		return "", fmt.Errorf("fill the template %s: %w", name, err)
	}
	return out.String(), nil
}

func writeConfig(s settings) error {
	for name, target := range configTargets {
		text, err := renderFile(configFiles, "config/"+name, s)
		if err != nil {
			return err
		}
		path := s.state(target)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// stamp is a digest of all that decides how a cluster runs: its programs, their arguments and
// configuration. A running cluster with another stamp is of another tree.
func stamp(s settings, all []built, imagesFolder string) (string, error) {
	digest := sha256.New()
	for _, b := range all {
		fmt.Fprintln(digest, b.folder)
	}
	fmt.Fprintln(digest, imagesFolder, networkCommands())
	byName := daemons(s.layout)
	for _, name := range daemonNames {
		fmt.Fprintln(digest, name, byName[name].args)
	}
	// What the machine offers is settled at the boot, and does not change while the cluster runs.
	s.Runc, s.Snapshotter = "", ""
	for _, name := range slices.Sorted(maps.Keys(configTargets)) {
		text, err := renderFile(configFiles, "config/"+name, s)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(digest, name, text)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// kubeconfig is the text of a kubeconfig with everything inside it, so that it can be copied.
func kubeconfig(user string, ca []byte, id identity) string {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: dnsprobe
  cluster:
    server: https://%s:%s
    certificate-authority-data: %s
contexts:
- name: dnsprobe
  context: {cluster: dnsprobe, user: "%s"}
current-context: dnsprobe
users:
- name: "%s"
  user:
    client-certificate-data: %s
    client-key-data: %s
`, nodeAddress, apiPort, encode(ca), user, user, encode(id.certificate), encode(id.key))
}

// userFile is the part of a user's name that names its kubeconfig: system:node:node-a -> node-a.
func userFile(user string) string {
	return user[strings.LastIndex(user, ":")+1:]
}
