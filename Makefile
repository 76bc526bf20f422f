# The few verbs of this tree. Everything they need and may install, they install; see hack/test.sh.
.PHONY: all build test lint unit conformance terminal e2e fuzz bench cases cluster-up cluster-down image generate tidy clean

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT  ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version.Commit=$(COMMIT)
AGENT_ARCH ?= amd64

all: build

build: ## the plugin and the agent, into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kubectl-dnsprobe ./cmd/kubectl-dnsprobe
	CGO_ENABLED=0 GOOS=linux GOARCH=$(AGENT_ARCH) go build -trimpath -ldflags '$(LDFLAGS)' -o bin/dnsprobe-agent ./cmd/dnsprobe-agent

image: build ## the agent's image as an archive, bin/agent-image.tar
	go run ./internal/agentimage/cmd -agent bin/dnsprobe-agent -o bin/agent-image.tar

test: ## all tests, in the order of their cost; says what could not run, and fails on that when CI=true
	bash hack/test.sh all

lint unit conformance terminal e2e: ## one part of the tests; every night: make conformance RANDOM_CASES=10000 SEED=2
	bash hack/test.sh $@

fuzz: ## every fuzz target for a while: make fuzz FUZZTIME=10m
	bash hack/fuzz.sh

CASES ?= internal/pipeline/testdata/cases
cases: ## incidents as scenario files, held against what they expect: make cases CASES=DIR
	go run ./internal/cases/cmd $(CASES)

bench: ## ratios against the alternatives, on the test cluster
	bash hack/bench.sh

cluster-up: ## a real one-node Kubernetes in a network namespace of its own (root)
	bash hack/cluster.sh up

cluster-down: ## and away with it, nothing left
	bash hack/cluster.sh down

generate: ## everything that is made from the code: docs, pictures
	go generate ./...

tidy:
	go mod tidy
	cd tools && go mod tidy

clean:
	rm -rf bin dist
