#!/usr/bin/env bash
# Ratios against the alternatives, in one run: bash hack/bench.sh [-n ROUNDS] [-json]   See docs/benchmarks.md.
#
# Without KUBECONFIG it takes the test cluster, which it boots when it is not there, and leaves (make cluster-down). With
# KUBECONFIG it takes that cluster; DNSPROBE_IMAGE then names an agent image that it can pull.
set -euo pipefail
cd "$(dirname "$0")/.."

make -s image >&2
mkdir -p bin
go build -o bin/bench ./bench
enter=()
if [ -z "${KUBECONFIG:-}" ]; then
  exports=$(bash hack/cluster.sh up)
  eval "$exports"
  bash hack/cluster.sh load-image "$PWD/bin/agent-image.tar" >&2
  enter=(nsenter --net=/run/netns/dnsprobe)
fi
export PATH="$PWD/bin:$PATH"
# The program takes the place of this one, so that an interruption reaches it at once and it can clean up.
exec "${enter[@]}" bin/bench "$@"
