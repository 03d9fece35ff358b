.DEFAULT_GOAL := help
.PHONY: help run build test quick soak lint bench dist package-test

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

run: build ## build, then start the demo on localhost; ARGS="--listen 127.0.0.1:8091" for another address
	@exec bin/outrigger demo $(ARGS)

build: ## build bin/outrigger
	CGO_ENABLED=0 go build -o bin/outrigger ./cmd/outrigger

test: ## install what the tests need where it is missing, then run all of them
	@scripts/test.sh

quick: ## before a commit: lint, and all packages without race detector, browser and kills
	@scripts/quick.sh

soak: ## the long forms: TEST_KILLS kills (200), TEST_CUTS power cuts (200), TEST_RESTARTS restarts (20), TEST_CHANNELS channels (1000), TEST_TOKEN_MAILS messages by tokens (2000), TEST_MINUTES minutes of a provider's limits (3), every fuzz target for TEST_FUZZ (60s)
	@scripts/soak.sh

lint: ## gofmt, go vet, staticcheck, shellcheck
	@scripts/lint.sh

bench: ## the measurements, as ratios in one run; never fails by the clock
	@scripts/bench.sh

dist: ## what a release has, in dist/: binaries, packages, image, chart, SBOM, checksums; reproducible
	@VERSION="$(VERSION)" SIGNING_KEY="$(SIGNING_KEY)" scripts/dist.sh

package-test: ## as root: dist twice, deb and rpm in a booted Debian, the documented commands, the image, the chart, proxies in front
	@scripts/package-test.sh
