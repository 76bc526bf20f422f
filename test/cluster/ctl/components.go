package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// buildTimeout is for one component on a slow, busy machine with an empty Go cache: Kubernetes
// takes 7 minutes on two idle cores.
const buildTimeout = 40 * time.Minute

// component is one set of programs built together from one Go module.
type component struct {
	name     string
	module   string   // the module whose version names the cache folder; empty: our own sources
	dir      string   // below test/cluster, holds the go.mod
	sources  []string // files and folders, below dir, that decide the result
	packages []string
	tags     string
	ldflags  string // VERSION stands for the module's version, MINOR for its minor number
	// links are further names for a program: link -> program.
	links map[string]string
}

var components = []component{
	{
		name: "kubernetes", module: "k8s.io/kubernetes", dir: "binaries/kubernetes", sources: []string{"."},
		packages: []string{".", "k8s.io/kubernetes/cmd/kubectl"},
		ldflags:  versionFlags("k8s.io/component-base/version") + versionFlags("k8s.io/client-go/pkg/version"),
		links: map[string]string{
			"kube-apiserver": "kubernetes", "kube-controller-manager": "kubernetes", "kube-scheduler": "kubernetes",
			"kubelet": "kubernetes", "kube-proxy": "kubernetes",
		},
	},
	{
		name: "etcd", module: "go.etcd.io/etcd/server/v3", dir: "binaries/etcd", sources: []string{"."},
		packages: []string{"go.etcd.io/etcd/server/v3"}, links: map[string]string{"etcd": "server"},
	},
	{
		name: "containerd", module: "github.com/containerd/containerd/v2", dir: "binaries/containerd", sources: []string{"."},
		packages: []string{"tool"}, tags: "no_btrfs,no_devmapper,no_zfs",
		ldflags: " -X github.com/containerd/containerd/v2/version.Version=VERSION",
	},
	{
		name: "cni", module: "github.com/containernetworking/plugins", dir: "binaries/cni", sources: []string{"."},
		packages: []string{"tool"},
	},
	{
		name: "coredns", module: "github.com/coredns/coredns", dir: "binaries/coredns", sources: []string{"."},
		packages: []string{"tool"},
	},
	{
		name: "programs", dir: ".", sources: []string{"go.mod", "go.sum", "outside", "apps"},
		packages: []string{"./outside", "./apps/cart", "./apps/ledger", "./apps/nodecache"},
	},
}

func versionFlags(pkg string) string {
	return fmt.Sprintf(" -X %[1]s.gitVersion=VERSION -X %[1]s.gitMajor=1 -X %[1]s.gitMinor=MINOR -X %[1]s.gitTreeState=clean", pkg)
}

// requiredVersion is the version of a module in the text of a go.mod.
func requiredVersion(gomod, module string) (string, error) {
	for line := range strings.Lines(gomod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("go.mod does not require %s", module)
}

// expandFlags fills a version such as v1.37.2 into the linker flags.
func expandFlags(ldflags, version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	minor := ""
	if len(parts) > 1 {
		minor = parts[1]
	}
	return "-s -w" + strings.NewReplacer("VERSION", version, "MINOR", minor).Replace(ldflags)
}

// built is where a component's programs are, or would be.
type built struct {
	component
	folder  string
	ldflags string
}

// resolve names the cache folder of a component: its version, then a digest of all that decides the result.
func (c component) resolve(l layout) (built, error) {
	dir := filepath.Join(l.Source, c.dir)
	version := "local"
	if c.module != "" {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return built{}, fmt.Errorf("read which version of %s is wanted: %w", c.name, err)
		}
		if version, err = requiredVersion(string(text), c.module); err != nil {
			return built{}, fmt.Errorf("read which version of %s is wanted in %s: %w", c.name, dir, err)
		}
	}
	ldflags := expandFlags(c.ldflags, version)
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOARCH, c.packages, c.tags, ldflags)
	for _, source := range c.sources {
		if err := digestFiles(digest, filepath.Join(dir, source)); err != nil {
			return built{}, fmt.Errorf("read the sources of %s: %w", c.name, err)
		}
	}
	folder := fmt.Sprintf("%s-%s-%s", c.name, version, hex.EncodeToString(digest.Sum(nil))[:12])
	return built{component: c, folder: filepath.Join(l.Cache, folder), ldflags: ldflags}, nil
}

// digestFiles adds names and contents of all files at or below path; tests do not decide a result.
func digestFiles(digest io.Writer, path string) error {
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, file)
		fmt.Fprintf(digest, "%s %d\n%s", name, len(text), text)
		return err
	})
}

// build compiles the component unless its folder is there already. It builds into a neighbour and
// renames, so that a build that was interrupted is never taken for a whole one.
func (b built) build(ctx context.Context, l layout) error {
	if _, err := os.Stat(b.folder); err == nil {
		return nil
	}
	started := time.Now()
	say("building %s (once; kept in %s)", filepath.Base(b.folder), l.Cache)
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	if err := os.MkdirAll(l.Cache, 0o755); err != nil {
		return fmt.Errorf("make the folder for built programs: %w", err)
	}
	part, err := os.MkdirTemp(l.Cache, ".part-")
	if err != nil {
		return fmt.Errorf("make a folder to build in: %w", err)
	}
	defer os.RemoveAll(part)
	// One after the other and with low priority: the machine has other work.
	args := []string{"-n", "5", "go", "build", "-buildvcs=false", "-ldflags", b.ldflags, "-tags", b.tags, "-o", part + "/"}
	command := exec.CommandContext(ctx, "nice", append(args, b.packages...)...)
	command.Dir = filepath.Join(l.Source, b.dir)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", b.name, command.Dir, err, output)
	}
	for link, program := range b.links {
		if err := os.Symlink(program, filepath.Join(part, link)); err != nil {
			return fmt.Errorf("link %s: %w", link, err)
		}
	}
	if err := os.Rename(part, b.folder); err != nil {
		return fmt.Errorf("keep the built %s: %w", b.name, err)
	}
	if err := os.Chmod(b.folder, 0o755); err != nil {
		return fmt.Errorf("keep the built %s: %w", b.name, err)
	}
	say("built %s in %v", b.name, time.Since(started).Round(time.Second))
	return nil
}

// linkPrograms makes dir hold one link for every program of every component.
func linkPrograms(all []built, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("renew %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("renew %s: %w", dir, err)
	}
	for _, b := range all {
		entries, err := os.ReadDir(b.folder)
		if err != nil {
			return fmt.Errorf("list the programs of %s: %w", b.name, err)
		}
		for _, entry := range entries {
			if err := os.Symlink(filepath.Join(b.folder, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
				return fmt.Errorf("link the programs of %s: %w", b.name, err)
			}
		}
	}
	return nil
}

// resolveAll names the cache folders of all components, in the order declared.
func resolveAll(l layout) ([]built, error) {
	var all []built
	for _, c := range components {
		b, err := c.resolve(l)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// buildAll builds what is missing.
func buildAll(ctx context.Context, l layout, all []built) error {
	// Of builds that were killed; the lock is held, so nobody builds there now.
	parts, err := filepath.Glob(filepath.Join(l.Cache, ".part-*"))
	if err != nil {
		return fmt.Errorf("look for unfinished builds: %w", err)
	}
	for _, part := range parts {
		if err := os.RemoveAll(part); err != nil {
			return fmt.Errorf("remove an unfinished build: %w", err)
		}
	}
	for _, b := range all {
		if err := b.build(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// folderOf is the cache folder of the component with that name.
func folderOf(all []built, name string) string {
	for _, b := range all {
		if b.name == name {
			return b.folder
		}
	}
	return ""
}
