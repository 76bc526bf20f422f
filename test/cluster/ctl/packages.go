package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const installTimeout = 10 * time.Minute

// debianPackage is a package and a file it brings: the file tells whether it is needed.
type debianPackage struct{ name, program string }

var debianPackages = []debianPackage{
	{"runc", "runc"},
	{"iproute2", "ip"},
	{"iptables", "iptables"},
	{"nftables", "nft"},
	{"conntrack", "conntrack"},
	{"util-linux", "nsenter"},
	{"gcc", "gcc"},
	{"libc6-dev", "/usr/include/stdio.h"},
	{"musl-tools", "musl-gcc"},
	{"busybox-static", "busybox"},
}

// missing lists the packages whose program cannot be found.
func missing(packages []debianPackage, found func(string) bool) []string {
	var names []string
	for _, p := range packages {
		if !found(p.program) {
			names = append(names, p.name)
		}
	}
	return names
}

func programFound(program string) bool {
	if strings.HasPrefix(program, "/") {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// installMissing brings what the cluster needs from the distribution.
func installMissing(ctx context.Context) error {
	names := missing(debianPackages, programFound)
	if len(names) == 0 {
		return nil
	}
	say("installing %s", strings.Join(names, " "))
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	install := []string{"apt-get", "install", "-y", "-q", "--no-install-recommends"}
	for _, args := range [][]string{{"apt-get", "update", "-q"}, slices.Concat(install, names)} {
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w; on a system without apt, install what brings these programs: %s\n%s",
				strings.Join(args, " "), err, strings.Join(names, " "), output)
		}
	}
	return nil
}
