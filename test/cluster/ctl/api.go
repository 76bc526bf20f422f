package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	requestTimeout = 5 * time.Second
	// maxAnswer is far above what a cluster of some dozen pods says.
	maxAnswer = 16 << 20
)

// api asks the API server as admin, over HTTP only: a client library would make this program
// minutes slower to compile.
type api struct{ client *http.Client }

func newAPI(l layout) (api, error) {
	text, err := os.ReadFile(l.kubeconfig("admin"))
	if err != nil {
		return api{}, fmt.Errorf("read the admin's kubeconfig: %w; is the cluster up?", err)
	}
	ca, certificate, key := kubeconfigField(string(text), "certificate-authority-data"),
		kubeconfigField(string(text), "client-certificate-data"), kubeconfigField(string(text), "client-key-data")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return api{}, fmt.Errorf("read the admin's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return api{}, fmt.Errorf("read the cluster authority in %s: no certificate there", l.kubeconfig("admin"))
	}
	return api{&http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		DialContext:     dialInside(l.Netns),
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}}}, nil
}

// kubeconfigField decodes a field of a kubeconfig that this program wrote: one field a line.
func kubeconfigField(text, name string) []byte {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+": "); found {
			decoded, err := base64.StdEncoding.DecodeString(value)
			if err == nil {
				return decoded
			}
		}
	}
	return nil
}

func (a api) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+nodeAddress+":"+apiPort+path, nil)
	if err != nil {
		return fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the API server for %s: %s: %.300s", path, response.Status, body)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read the API server's answer for %s: %w", path, err)
	}
	return nil
}

// condition is one entry of a Kubernetes status.
type condition struct{ Type, Status, Message string }

type nodeObject struct {
	Status struct{ Conditions []condition }
}

type podObject struct {
	Metadata struct{ Namespace, Name, DeletionTimestamp string }
	Spec     struct{ RestartPolicy string }
	Status   struct {
		Phase             string
		Conditions        []condition
		ContainerStatuses []struct {
			RestartCount int
			State        struct {
				Waiting *struct{ Reason, Message string }
			}
		}
	}
}

type podList struct{ Items []podObject }

func statusOf(conditions []condition, kind string) (status, message string) {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status, c.Message
		}
	}
	return "Unknown", "not reported yet"
}

func (a api) nodeReady(ctx context.Context) error {
	var node nodeObject
	if err := a.get(ctx, "/api/v1/nodes/"+nodeName, &node); err != nil {
		return err
	}
	if status, message := statusOf(node.Status.Conditions, "Ready"); status != "True" {
		return fmt.Errorf("the node is not ready: %s", message)
	}
	return nil
}

// podsReady returns nil when every pod of the contents runs and is ready, or has finished well, and
// there are at least as many as wanted. Pods that tests have made are no concern of it.
func (a api) podsReady(ctx context.Context, wanted int) error {
	var pods podList
	if err := a.get(ctx, "/api/v1/pods?labelSelector=part-of%3Dtest-cluster", &pods); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if reason := notReady(pod); reason != "" {
			return fmt.Errorf("pod %s/%s: %s", pod.Metadata.Namespace, pod.Metadata.Name, reason)
		}
	}
	if len(pods.Items) < wanted {
		return fmt.Errorf("%d pods of at least %d exist", len(pods.Items), wanted)
	}
	return nil
}

// notReady says why a pod is not as it should be; empty when it is.
func notReady(pod podObject) string {
	if pod.Status.Phase == "Succeeded" || pod.Metadata.DeletionTimestamp != "" {
		return ""
	}
	for _, container := range pod.Status.ContainerStatuses {
		if w := container.State.Waiting; w != nil {
			return strings.TrimSpace(w.Reason + " " + w.Message)
		}
	}
	// A pod that never restarts is there to have finished; while it runs it may be ready for a moment.
	if pod.Spec.RestartPolicy == "Never" {
		return "not finished yet, phase " + pod.Status.Phase
	}
	if status, message := statusOf(pod.Status.Conditions, "Ready"); status != "True" {
		return fmt.Sprintf("phase %s, not ready: %s", pod.Status.Phase, message)
	}
	return ""
}
