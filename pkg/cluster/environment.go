package cluster

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxHosts bounds the hosts that are taken from an environment, maxWordsRead the words that are looked at for them, and maxSetting
// the bytes of one setting.
const (
	maxHosts     = 30
	maxWordsRead = 2000
	maxSetting   = 8 << 10
)

// hostsOf returns the hosts that a container is told of in its environment and its arguments, each once, in order. services are the
// Services of the pod's namespace, whose names count as hosts wherever they stand alone.
//
// Only what stands in the spec is read, and only the host is kept of it: no value that comes from a Secret or ConfigMap, no user
// information, no path. What could be a secret is left out: a word counts as a host only by its form (a URL, a name with a port,
// a Service's full name), by what the setting is called, or because there is such a Service.
func hostsOf(c *corev1.Container, services []string) []string {
	found := hosts{services: services}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			found.setting(e.Name, e.Value)
		}
	}
	args := slices.Concat(c.Command, c.Args)
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case joined && strings.HasPrefix(arg, "-"):
			found.setting(name, value)
		case strings.HasPrefix(arg, "-"):
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "="):
			found.setting(args[i-1], arg)
		default:
			found.setting("", arg)
		}
	}
	return found.list
}

// hosts collects hosts.
type hosts struct {
	services []string
	list     []string
	read     int
}

// setting takes the hosts in a value that has a name.
func (h *hosts) setting(name, value string) {
	if len(value) > maxSetting {
		return
	}
	for word := range strings.FieldsSeq(value) {
		if h.read++; h.read > maxWordsRead {
			return
		}
		for _, host := range h.inWord(name, strings.Trim(word, `'"<>,;|`)) {
			if len(h.list) < maxHosts && !slices.Contains(h.list, host) {
				h.list = append(h.list, host)
			}
		}
	}
}

func (h *hosts) inWord(name, word string) []string {
	switch strings.Count(word, "://") {
	case 0:
	case 1:
		return inURL(word, isSecret(name))
	default:
		if strings.ContainsRune(word, '@') {
			// Whether it is several URLs, or one with a comma in its password, nobody can tell.
			return nil
		}
		var out []string
		for part := range strings.SplitSeq(word, ",") {
			out = append(out, inURL(part, isSecret(name))...)
		}
		return out
	}
	if isSecret(name) {
		return nil
	}
	// A data source of Go's MySQL driver: USER:PASSWORD@tcp(HOST:PORT)/NAME.
	if _, after, found := strings.Cut(word, "@tcp("); found {
		inside, _, _ := strings.Cut(after, ")")
		return h.inList("host", inside)
	}
	if strings.ContainsAny(word, "@/") {
		return nil
	}
	var out []string
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(";|", r) }) {
		// Of KEY=VALUE, as in a data source of PostgreSQL, the key is the nearer name.
		if key, value, found := strings.Cut(part, "="); found {
			out = append(out, h.inList(key, value)...)
			continue
		}
		out = append(out, h.inList(name, part)...)
	}
	return out
}

// schemes are those of URLs whose host an application looks up even if it is a single label without a port.
var schemes = []string{
	"http", "https", "ws", "wss", "grpc", "grpcs", "amqp", "amqps", "redis", "rediss", "postgres", "postgresql", "mysql", "mariadb", "sqlserver", "mongodb", "nats",
	"tcp", "tls", "udp", "ldap", "ldaps", "smtp", "smtps", "kafka", "mqtt", "memcached", "clickhouse", "bolt", "neo4j", "dns",
}

// notHosts are schemes of URLs in which no host stands where it should: buckets, files, images, names of SRV records.
var notHosts = []string{"s3", "s3a", "s3n", "gs", "gcs", "file", "unix", "npipe", "docker", "oci", "classpath", "mongodb+srv", "azblob", "vault", "sm", "arn"}

// inURL returns the hosts of a URL; there can be several, as in those of MongoDB. Where a secret is expected, only a scheme that is known
// makes it a URL.
func inURL(url string, secret bool) []string {
	before, after, found := strings.Cut(url, "://")
	scheme := strings.ToLower(before[strings.LastIndexAny(before, ":=,(")+1:])
	if !found || slices.Contains(notHosts, scheme) || secret && !slices.Contains(schemes, scheme) {
		return nil
	}
	if scheme == "dns" {
		// The names of gRPC have an empty authority: dns:///HOST:PORT.
		after = strings.TrimLeft(after, "/")
	}
	end := strings.IndexAny(after, "/?#;\\")
	if end < 0 {
		end = len(after)
	}
	authority, rest := after[:end], after[end:]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	} else if strings.ContainsRune(rest, '@') {
		// A password can have a slash in it, and what stands before is then no host.
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(authority, ",") {
		host, port, hasPort := strings.Cut(part, ":")
		if hasPort && !isPort(port) || !isHost(host) {
			continue
		}
		if hasPort || strings.Contains(host, ".") || slices.Contains(schemes, scheme) {
			out = append(out, host)
		}
	}
	return out
}

// inList returns the hosts of a list with commas, of a setting with a name.
func (h *hosts) inList(name, list string) []string {
	if isSecret(name) {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		host, port, hasPort := strings.Cut(part, ":")
		if hasPort && !isPort(port) || !isHost(host) {
			continue
		}
		dotted := strings.Contains(host, ".")
		service := slices.Contains(h.services, host) && (hasPort || name != "")
		if service || inCluster(host) || hasPort && (dotted || isServed(port)) || namesHosts(name) && (dotted || hasPort) {
			out = append(out, host)
		}
	}
	return out
}

// hostWords are ends of names of settings whose values are hosts.
var hostWords = []string{"HOST", "HOSTNAME", "ADDR", "ADDRESS", "ENDPOINT", "SERVER", "URL", "URI", "BROKER", "PROXY", "DSN", "PEER", "NODE", "UPSTREAM", "BACKEND"}

// secretWords are parts of names of settings whose values are nobody's business.
var secretWords = []string{"PASS", "PWD", "SECRET", "TOKEN", "CRED", "PRIVATE", "KEY", "AUTH", "SIGNATURE", "SALT", "COOKIE", "JWT"}

// namesHosts says whether the last part of a name promises hosts. Those in NO_PROXY are there not to be asked for by a proxy, and
// HOSTNAME alone is the pod's own.
func namesHosts(name string) bool {
	last, whole := lastPart(name)
	if strings.HasSuffix(whole, "NOPROXY") || whole == "HOSTNAME" {
		return false
	}
	return slices.ContainsFunc(hostWords, func(w string) bool {
		return strings.HasSuffix(last, w) || strings.HasSuffix(last, w+"S") || strings.HasSuffix(last, w+"ES")
	})
}

// isSecret says whether a name promises a secret: by its last part, or by any other where the last does not promise hosts.
func isSecret(name string) bool {
	last, whole := lastPart(name)
	has := func(text string) bool {
		return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(text, w) })
	}
	return has(last) || has(whole) && !namesHosts(name)
}

// lastPart returns the last part of a name and all its parts, in capitals: of "db-host" HOST and DBHOST.
func lastPart(name string) (last, whole string) {
	parts := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(parts) == 0 {
		return "", ""
	}
	return parts[len(parts)-1], strings.Join(parts, "")
}

// inCluster says whether a host is a Service's by its form.
func inCluster(host string) bool {
	host = strings.TrimSuffix(host, ".")
	return strings.HasSuffix(host, ".svc") || strings.Contains(host, ".svc.")
}

func isPort(text string) bool {
	if text == "" || len(text) > 5 {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// isServed says whether a number is more likely a port than the tag of an image, as in debian:12.
func isServed(port string) bool { return len(port) > 3 || port == "80" || port == "443" }

// isHost says whether text has the form of a name that an application looks up: no address, no number, no file.
func isHost(text string) bool {
	name := strings.TrimSuffix(text, ".")
	if name == "" || len(name) > 253 || name == "localhost" {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.ContainsFunc(l, func(r rune) bool { return !hostRune(r) }) {
			return false
		}
	}
	last := labels[len(labels)-1]
	// No top-level domain and no Service begins with a digit; a version does.
	return last[0] < '0' || last[0] > '9'
}

func hostRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// environmentFact has the hosts that a container of the pod is told of.
func environmentFact(pod *corev1.Pod, container string, services answer[[]corev1.Service]) probe.Fact {
	source := fmt.Sprintf("env and args of container %s in the spec of pod %s/%s; values from ConfigMaps and Secrets are not read", container, pod.Namespace, pod.Name)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name != container {
			continue
		}
		return probe.Fact{Value: fact.NamesText(hostsOf(c, namesOf(services.value))), Source: source}
	}
	return probe.Fact{Unknown: "the pod has no such container", Source: source}
}

func namesOf(services []corev1.Service) []string {
	out := make([]string, 0, len(services))
	for _, s := range services {
		out = append(out, s.Name)
	}
	return out
}
