package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestHostsOfASetting(t *testing.T) {
	services := []string{"ledger", "postgres", "cache"}
	for _, tt := range []struct{ name, value, want string }{
		{"API_URL", "https://api.stripe.com/v1", "api.stripe.com"},
		{"API_URL", "http://ledger", "ledger"},
		{"DATABASE_URL", "postgres://user:s3cr3t@db.orders:5432/shop?sslmode=off", "db.orders"},
		{"DATABASE_URL", "postgres://user:p/w@db.orders:5432/shop", ""},
		{"DATABASE_URL", "postgres://user:p@ss@db.orders/shop", "db.orders"},
		{"DATABASE_URL", "postgres://user:80,x://y@db.orders/shop", ""},
		{"MONGO", "mongodb://u:p@m0.store:27017,m1.store:27017/db?authSource=admin", "m0.store m1.store"},
		{"MONGO", "mongodb+srv://u:p@cluster0.example.net/db", ""},
		{"SPRING_DATASOURCE_URL", "jdbc:postgresql://pg.data:5432/x", "pg.data"},
		{"JDBC", "jdbc:sqlserver://sql.data:1433;databaseName=x;password=p.w", "sql.data"},
		{"DSN", "user:pw@tcp(db.shop:3306)/x", "db.shop"},
		{"PG", "host=pg.shop port=5432 user=x password=ab.cd", "pg.shop"},
		{"KAFKA_BROKERS", "kafka-0.kafka:9092,kafka-1.kafka:9092", "kafka-0.kafka kafka-1.kafka"},
		{"ENDPOINTS", "http://a.shop:1/x,http://b.shop:2/y", "a.shop b.shop"},
		{"GRPC", "dns:///payments.core:8080", "payments.core"},
		{"BUCKET", "s3://my.bucket/x", ""},
		{"SOCKET", "unix:///var/run/x.sock", ""},
		{"REDIS_HOST", "cache", "cache"},
		{"REDIS_HOST", "unheard-of", ""},
		{"REDIS_ADDR", "unheard-of:6379", "unheard-of"},
		{"ANY", "ledger.shop.svc.cluster.local", "ledger.shop.svc.cluster.local"},
		{"ANY", "reports.example.org", ""},
		{"REPORT_HOST", "reports.example.org", "reports.example.org"},
		{"dbHost", "reports.example.org.", "reports.example.org."},
		{"ANY", "reports.example.org:443", "reports.example.org"},
		{"BIND_ADDR", "0.0.0.0:8080", ""},
		{"LISTEN", "[::]:8080", ""},
		{"SERVER", "localhost:1", ""},
		{"VERSION", "1.2.3", ""},
		{"MAIN", "com.example.main", ""},
		{"CONFIG", "/etc/app/app.conf", ""},
		{"NO_PROXY", "localhost,.svc,cluster.local,example.com", ""},
		{"HOSTNAME", "web.shop", ""},
		{"IMAGE", "registry.example/app:1.2", ""},
		{"IMAGE", "debian:12", ""},
		{"", "ledger.core:8080", "ledger.core"},
		{"", "unheard-of:8080", "unheard-of"},
		{"", "unheard-of:80", "unheard-of"},
		// What could be a secret is not kept, whatever it looks like.
		{"API_TOKEN", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", ""},
		{"SERVER", "eyJhbGciOi.eyJzdWIiOi.Sfl_KxwRJSM=", ""},
		{"PASSWORD", "postgres", ""},
		{"DB_PASSWORD", "postgres:5432", ""},
		{"SECRET_KEY", "abc.def:12", ""},
		{"HOST_KEY", "abc.def", ""},
		{"PASSWORD", "x://abc.def", ""},
		{"PASSWORD", "host=abc.def", ""},
		{"AUTH_HOST", "sso.example.com", "sso.example.com"},
		{"TOKEN_ENDPOINT", "https://x:y@sso.example.com/token", "sso.example.com"},
		{"EVIL_HOST", "a.b\x1b[2J", ""},
		{"EVIL_HOST", "a..b", ""},
		{"EVIL_HOST", "-a.b", ""},
		{"EVIL_HOST", strings.Repeat("a.", 200) + "b", ""},
		{"LIST_HOST", "a.shop, b.shop", "a.shop b.shop"},
		{"QUOTED_URL", "'http://x.shop/'", "x.shop"},
		{"EVIL_URL", "postgres://u:1;x@h.shop/", ""},
		{"HOSTS", "a.shop;b.shop", "a.shop b.shop"},
	} {
		c := &corev1.Container{Env: []corev1.EnvVar{{Name: tt.name, Value: tt.value}}}
		if got := strings.Join(hostsOf(c, services), " "); got != tt.want {
			t.Errorf("%s=%s: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestHostsOfAContainer(t *testing.T) {
	c := &corev1.Container{
		Env: []corev1.EnvVar{
			{Name: "A_HOST", Value: "a.shop"},
			{Name: "B_HOST", Value: "a.shop"},
			{Name: "C_URL", Value: "http://never.shop", ValueFrom: &corev1.EnvVarSource{}},
		},
		Command: []string{"postgres", "--upstream=http://b.shop:80"},
		Args:    []string{"--db-host", "c.shop", "-Dcache.host=d.shop", "--password", "e.shop", "--flag", "f.shop", "g.shop:80", "h:8080", "debian:12", "--verbose"},
	}
	if diff := cmp.Diff([]string{"a.shop", "b.shop", "c.shop", "d.shop", "g.shop", "h"}, hostsOf(c, []string{"postgres"})); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	many := &corev1.Container{}
	for i := range 100 {
		many.Env = append(many.Env, corev1.EnvVar{Name: fmt.Sprintf("X%d_HOST", i), Value: fmt.Sprintf("x%d.shop", i)})
	}
	if got := hostsOf(many, nil); len(got) != maxHosts || got[0] != "x0.shop" {
		t.Errorf("%d hosts, the first %v", len(got), got[:1])
	}
	long := &corev1.Container{Env: []corev1.EnvVar{{Name: "HOSTS", Value: strings.Repeat("a.b ", maxSetting)}}}
	if got := hostsOf(long, nil); len(got) != 0 {
		t.Errorf("of a setting that is too long: %v", got)
	}
}

// FuzzHosts holds that whatever stands in a spec, only hosts come out, few of them, and none that follows a password's @ or comes
// from a setting for a secret.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"postgres://u:p@h.x:1/y", "a.b:1,c.d:2", "k=v://x@y", "://", "@tcp(", "http://a://b,c", "\x00\xff", "8080#,://@@", "80/", "80;x", "80,y"} {
		f.Add("HOST", seed)
		f.Add("TOKEN", seed)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		c := &corev1.Container{Env: []corev1.EnvVar{{Name: name, Value: value}}, Args: []string{value, name + "=" + value}}
		got := hostsOf(c, []string{"ledger"})
		if len(got) > maxHosts {
			t.Errorf("%d hosts", len(got))
		}
		inURL := "postgres://theuser:" + strings.Join(strings.Fields(value), "") + "@db.shop/x"
		for _, h := range hostsOf(&corev1.Container{Env: []corev1.EnvVar{{Name: "DB_URL", Value: inURL}}}, nil) {
			if h == "theuser" {
				t.Errorf("the user of %q was taken for a host", inURL)
			}
		}
		for _, h := range got {
			if !isHost(h) {
				t.Errorf("%q=%q: %q is no host", name, value, h)
			}
		}
		if hosts := hostsOf(&corev1.Container{Env: []corev1.EnvVar{{Name: "PASSWORD", Value: value}}}, []string{"ledger"}); len(hosts) > 0 && !strings.Contains(value, "://") {
			t.Errorf("a password %q gave %q", value, hosts)
		}
	})
}
