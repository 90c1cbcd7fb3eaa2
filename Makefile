# Sluice. `make` lists the targets.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
SOURCES = $(shell git ls-files '*.go' '*.c' '*.h' 2>/dev/null) go.mod go.sum

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

build: sluice ## build ./sluice

sluice: $(SOURCES)
	$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $@ .

demo: sluice ## a CREATE TABLE AS that succeeds, one that fails, one that is killed, two that stream
	@scripts/demo.sh ./sluice

test: ## run the tests; as root on Debian strace, PostgreSQL and MariaDB are installed for them
	@scripts/tools.sh sqlite3 strace postgresql mariadb-server || echo "the tests that need them will be skipped"
	$(GO) test ./...

check: gofmt vet staticcheck tidy race test demo ## what CI runs: gofmt, vet, staticcheck, tidy, tests with and without race, docs, arrows, demo

bench: sluice ## compare with the sqlite3 command line: CTAS, GROUP BY, start-up, memory; ns a row of expressions
	$(GO) run ./scripts/bench ./sluice

fuzz: ## every fuzz target for FUZZTIME (60s)
	@scripts/fuzz.sh $(or $(FUZZTIME),60s)

soak: sluice ## two streaming jobs for SECONDS (3600): memory, descriptors, exact counts
	@scripts/soak.sh ./sluice $(or $(SECONDS),3600)

proof: ## every sink x statement x fault, 300 kill -9 of the shipped binary each; writes docs/promise.md; 1 to 2 hours
	$(GO) test -count=1 -timeout 5h -run 'TestProof|TestKill|TestCases/C18' -v . -proof -proof-update -kills 200 -near 100 -cancels 500

gofmt:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }

vet:
	$(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin $(GO) vet $$($(GO) list -f '{{.ImportPath}} {{.Deps}} {{.TestImports}} {{.XTestImports}}' ./... | grep -v connector/jdbc | cut -d' ' -f1)

staticcheck:
	$(GO) run $(STATICCHECK) ./...

tidy:
	$(GO) mod tidy -diff

race: # without the second that each raced process, also a child of a test, would wait at its end
	GORACE=atexit_sleep_ms=0 $(GO) test -race ./...

.PHONY: help build demo test check bench fuzz proof soak gofmt vet staticcheck tidy race
