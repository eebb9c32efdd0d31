# Each target is one step of .ci/run; `make check` runs what a change needs before it is sent.
GO ?= go
GOLANGCI_VERSION = v2.15.0
GOVULNCHECK_VERSION = v1.9.0
BIN = $(CURDIR)/build
WINEPREFIX ?= $(BIN)/wine
# What runs under Wine: the packages whose Windows files start, stop or describe processes and files.
WINE_PACKAGES = ./executor/
STRIP = -trimpath -ldflags="-s -w"

.PHONY: all build test fmt vet lint race cross wine vuln bench check clean tidy

all: build

build:
	CGO_ENABLED=0 $(GO) build $(STRIP) -o $(BIN)/maishell .

test:
	$(GO) test ./...

fmt:
	@out=$$(gofmt -l . ); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi

tidy:
	$(GO) mod tidy -diff

vet:
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

$(BIN)/golangci-lint:
	GOBIN=$(BIN) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

lint: $(BIN)/golangci-lint
	$(BIN)/golangci-lint run ./...

race:
	CGO_ENABLED=1 $(GO) test -race -short ./...

# Every system and architecture that is promised; the binaries are thrown away. No -trimpath, so that what vet, test and
# wine compiled is used again.
cross:
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "build $$os/$$arch"; \
		GOOS=$$os GOARCH=$$arch $(GO) build -o /dev/null . || exit 1; \
	done; done

wine:
	.ci/wine-setup $(WINEPREFIX)
	WINEPREFIX=$(WINEPREFIX) GOOS=windows $(GO) test -short -exec "$(CURDIR)/.ci/wine-exec" $(WINE_PACKAGES)

vuln:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...

# The figures of BENCHMARKS.md. Run it on an idle machine: a neighbour's load shows up as ours.
bench:
	$(GO) test ./executor -run '^$$' -bench Spawn -benchtime 4000x -timeout 30m
	$(GO) test ./executor -run '^$$' -bench 'Callers|Drain' -benchtime 5x -timeout 30m
	$(GO) test ./app -run '^$$' -bench Guarded -benchtime 4000x -timeout 30m
	$(GO) test ./app -run '^$$' -bench Turn -benchtime 500x
	$(GO) test ./app -run '^$$' -bench Conversations -benchtime 5x
	$(GO) test ./app -run '^$$' -bench 'Door|Reload'
	$(GO) test . -run '^$$' -bench Ready -benchtime 1x -timeout 30m
	$(GO) test ./tools ./guard ./policy ./redact ./scripts ./store ./texts ./config -run '^$$' -bench .

check: fmt tidy vet test

clean:
	rm -rf $(BIN)
