#!/usr/bin/env bash
# The test cluster: bash hack/cluster.sh up|down|status|...   The work is done by test/cluster.
set -euo pipefail
cd "$(dirname "$0")/../test/cluster"
bin="${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-dnsprobe/testcluster/ctl"
mkdir -p "$(dirname "$bin")"
go build -o "$bin" ./ctl
exec "$bin" "$@"
