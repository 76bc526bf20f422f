#!/usr/bin/env bash
# The test cluster: bash hack/cluster.sh up|down|status|...   The work is done by test/cluster.
set -euo pipefail
tree="$(cd "$(dirname "$0")/../test/cluster" && pwd)"
bin="${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-dnsprobe/testcluster/ctl"
mkdir -p "$(dirname "$bin")"
go build -C "$tree" -o "$bin" ./ctl
exec "$bin" "$@"
