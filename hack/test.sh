#!/usr/bin/env bash
# The tests of this tree, tier by tier: bash hack/test.sh all|lint|unit|conformance|terminal|e2e
#
# A tier that cannot run here is named with its reason; with CI=true that is a failure. So is a test that skips itself.
# RANDOM_CASES and SEED say which random cases are compared with each real library: 2000 of seed 1 unless told otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=$(mktemp -d)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-dnsprobe"
failed=() ; unable=() ; ran=()

say() { printf '\n=== %s\n' "$*"; }

cannot() { # tier, reason
  say "cannot run: $1: $2"
  unable+=("$1: $2")
}

# need installs Debian packages for the commands and files that are missing, where it may.
need() { # command-or-file=package ...
  local missing=() pair
  for pair in "$@"; do [ -e "${pair%%=*}" ] || command -v "${pair%%=*}" >/dev/null 2>&1 || missing+=("${pair##*=}"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing ${missing[*]}"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$logs/apt.log" 2>&1 ||
      { tail -n 20 "$logs/apt.log"; return 1; }
    return 0
  fi
  echo "missing: ${missing[*]} (and not root on a machine with apt-get)" >&2
  return 1
}

# go_test runs go test -v, keeps the whole log, and shows what a person needs: results of packages and of tests that failed.
go_test() { # tier, go test arguments
  local tier=$1 log="$logs/$1.log" status
  shift
  go test "$@" -v >"$log" 2>&1
  status=$?
  grep -E '^(ok|FAIL|---|panic:|conformance: )|no test files' "$log" | grep -vE '^--- PASS|no test files' || true
  if [ $status -ne 0 ]; then
    failed+=("$tier")
    say "$tier failed; the end of its log"
    grep -vE '^(=== |--- PASS|ok )' "$log" | tail -n 150
  fi
  return 0
}

step() { # tier, command...
  local tier=$1 ; shift
  if ! "$@" >"$logs/$tier.step" 2>&1; then
    failed+=("$tier: $*")
    say "$tier failed: $*" ; tail -n 100 "$logs/$tier.step"
  fi
}

# built_lint prints the path of the linter that tools/go.mod pins, building it when it is not in the cache.
built_lint() {
  local bin
  bin="$cache/tools/golangci-lint-$(cksum <tools/go.sum | cut -d' ' -f1)"
  [ -x "$bin" ] || (cd tools && go build -o "$bin" github.com/golangci/golangci-lint/v2/cmd/golangci-lint) || return 1
  echo "$bin"
}

unformatted() { local out ; out=$(git ls-files -z '*.go' | xargs -0 gofmt -l) ; echo "$out" ; [ -z "$out" ]; }

lint() {
  say "lint"
  ran+=(lint)
  local bin
  if ! bin=$(built_lint); then failed+=("lint: build the linter"); return; fi
  step lint unformatted
  step lint go vet ./...
  step lint go mod tidy -diff
  step lint "$bin" run ./...
  local other
  for other in linux/arm64 darwin/arm64 windows/amd64; do
    step lint env CGO_ENABLED=0 GOOS="${other%/*}" GOARCH="${other#*/}" go build -o "$logs/plugin" ./cmd/kubectl-dnsprobe
  done
  step lint go -C test/cluster vet ./...
}

unit() {
  say "unit: pure, modelled and loopback tests, with the race detector"
  if ! need gcc=gcc; then cannot unit "the race detector needs gcc"; return; fi
  ran+=(unit)
  go_test unit -race $(go list ./... | grep -vE '/test/(conformance|e2e|terminal)$')
  go_test unit-cluster -C test/cluster ./...
}

conformance() {
  say "conformance: our packets against the real libc's"
  if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then cannot conformance "needs root on Linux for namespaces of its own"; return; fi
  if ! need gcc=gcc ip=iproute2 musl-gcc=musl-tools /usr/include/ares.h=libc-ares-dev node=nodejs; then
    cannot conformance "needs gcc, musl-gcc, c-ares, Node and iproute2"
    return
  fi
  ran+=(conformance)
  # The comparisons with all libraries run side by side, since many cases wait for timeouts.
  local random=${RANDOM_CASES:-2000}
  go_test conformance -count=1 -parallel 8 -timeout "$((20 + random / 100))m" ./test/conformance/ -random="$random" -seed="${SEED:-1}"
}

terminal() {
  say "terminal: the real binary in tmux"
  if ! need tmux=tmux; then cannot terminal "needs tmux"; return; fi
  ran+=(terminal)
  go_test terminal -count=1 -timeout 10m ./test/terminal/
}

e2e() {
  say "e2e: the whole path in real pods"
  if [ -z "${KUBECONFIG:-}" ]; then
    if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
      cannot e2e "needs root on Linux for the test cluster, or KUBECONFIG for another one"; return
    fi
    if ! need gcc=gcc ip=iproute2 nsenter=util-linux; then cannot e2e "needs gcc, iproute2 and util-linux"; return; fi
    if ! bash hack/cluster.sh up >"$logs/cluster.log" 2>&1; then
      failed+=("e2e: cluster-up") ; tail -n 60 "$logs/cluster.log" ; bash hack/cluster.sh down ; return
    fi
    tail -n 5 "$logs/cluster.log"
  fi
  ran+=(e2e)
  # What runs at the same time mostly waits for timeouts of libcs.
  go_test e2e -tags e2e -count=1 -parallel 4 -timeout 30m ./test/e2e/
  if [ -z "${KUBECONFIG:-}" ] && [ -z "${KEEP_CLUSTER:-}" ]; then
    step e2e bash hack/cluster.sh down
  fi
}

report() {
  say "the tests that ran"
  local log passed skipped broken
  for log in "$logs"/*.log; do
    grep -hE '^(ok|FAIL|---) ' "$log" | sed -E "s|^|$(basename "$log" .log): |"
  done
  passed=$(cat "$logs"/*.log | grep -cE '^ *--- PASS')
  skipped=$(cat "$logs"/*.log | grep -cE '^ *--- SKIP')
  broken=$(cat "$logs"/*.log | grep -cE '^ *--- FAIL')
  say "tiers run: ${ran[*]:-none}"
  local u f
  for u in "${unable[@]}"; do echo "NOT RUN: $u"; done
  for f in "${failed[@]}"; do echo "FAILED: $f"; done
  [ "$broken" -eq 0 ] && [ ${#failed[@]} -gt 0 ] && broken=${#failed[@]}
  if [ "${CI:-}" = true ]; then
    [ "$skipped" -eq 0 ] || { echo "FAILED: $skipped tests skipped themselves"; failed+=(skipped); }
    [ ${#unable[@]} -eq 0 ] || failed+=("not run")
  fi
  echo "$passed passed, $broken failed, $skipped skipped"
  [ ${#failed[@]} -eq 0 ]
}

case "${1:-all}" in
  all) lint ; unit ; conformance ; terminal ; e2e ;;
  lint|unit|conformance|terminal|e2e) "$1" ;;
  *) echo "usage: hack/test.sh all|lint|unit|conformance|terminal|e2e" >&2 ; exit 2 ;;
esac
report
status=$?
rm -rf "$logs"
exit $status
