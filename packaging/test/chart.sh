#!/bin/sh
# The chart in a cluster: installed with two nodes, upgraded and taken back by helm under
# load, and no webhook is refused. API server and controllers are the real ones; pods are
# processes of the program, which a played kubelet starts, asks and ends.
# scripts/postgres.sh packaging/test/chart.sh DIST, as root, for etcd.
#
# CACHE is where the built programs of the cluster are kept for the next run: to build
# them the first time takes some 10 minutes. It takes the ports 16443, 12379, 12380 and
# 18448 of this machine.
set -eu
dist=$(realpath "$1")
cd "$(dirname "$0")/../.."
cache=${CACHE:-$PWD/.cache}/cluster
work=$(mktemp -d)
pids=

say() { echo "== $*"; }
fail() {
	echo "FAILED: $*" >&2
	tail -n 20 "$work"/*.log >&2
	exit 1
}
end() {
	# The kubelet ends its pods. The API server would wait for etcd.
	[ -z "${kubelet:-}" ] || { kill "$kubelet" 2>/dev/null && wait "$kubelet"; } || true
	for pid in $pids; do kill -9 "$pid" 2>/dev/null || true; done
	for pid in $pids; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap end EXIT
await() { # WHAT COMMAND…
	what=$1
	shift
	for _ in $(seq 300); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	fail "$what"
}

say "the cluster"
mkdir -p "$cache"
export CGO_ENABLED=0
kubernetes=$(cd packaging/cluster && go list -m -f '{{.Version}}' k8s.io/kubernetes)
(cd packaging/cluster && go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes" -o "$cache/" \
	k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager)
(cd packaging/check && go build -ldflags "-s -w" -o "$cache/" helm.sh/helm/v3/cmd/helm)
go build -o "$work/load" ./packaging/test/load
go build -o "$work/kubelet" ./packaging/test/kubelet
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
	-keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
token=$(openssl rand -hex 16)
echo "$token,admin,admin,system:masters" >"$work/tokens.csv"
api=https://127.0.0.1:16443
cat >"$work/kubeconfig" <<-YAML
	apiVersion: v1
	kind: Config
	clusters: [{name: test, cluster: {server: "$api", certificate-authority: $work/tls.crt}}]
	users: [{name: admin, user: {token: "$token"}}]
	contexts: [{name: test, context: {cluster: test, user: admin}}]
	current-context: test
YAML
export KUBECONFIG="$work/kubeconfig"
ask() { # METHOD PATH [BODY]
	curl -fsS --cacert "$work/tls.crt" -H "Authorization: Bearer $token" -X "$1" ${3:+-H 'Content-Type: application/json' -d "$3"} "$api$2"
}
if [ ! -x "$cache/etcd" ]; then # Debian's, without the service that it would start
	(cd "$work" && apt-get -qq download etcd-server && dpkg -x etcd-server_*.deb etcd-files && cp etcd-files/usr/bin/etcd "$cache/") >/dev/null 2>&1
fi
"$cache/etcd" --data-dir "$work/etcd" --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
	--listen-peer-urls http://127.0.0.1:12380 --log-level error >"$work/etcd.log" 2>&1 &
pids="$pids $!"
"$cache/kube-apiserver" --etcd-servers=http://127.0.0.1:12379 --secure-port=16443 --bind-address=127.0.0.1 --advertise-address=10.90.1.1 \
	--tls-cert-file="$work/tls.crt" --tls-private-key-file="$work/tls.key" --token-auth-file="$work/tokens.csv" --authorization-mode=RBAC \
	--service-account-issuer=https://kubernetes.default.svc --service-account-signing-key-file="$work/accounts.key" \
	--service-account-key-file="$work/accounts.key" --service-cluster-ip-range=10.96.0.0/24 --disable-admission-plugins=ServiceAccount \
	--endpoint-reconciler-type=none >"$work/api.log" 2>&1 &
pids="$pids $!"
await "the API server is not ready" ask GET /readyz
"$cache/kube-controller-manager" --kubeconfig="$work/kubeconfig" --leader-elect=false \
	--controllers=statefulset-controller,endpointslice-controller,disruption-controller >"$work/controllers.log" 2>&1 &
pids="$pids $!"

say "two versions of the chart, and what the administrator of the cluster gives"
mkdir "$work/files" "$work/secrets"
go run ./packaging/test/commands cluster install upgrade >"$work/commands"
grep -o 'outrigger-chart-[0-9.]*\.tgz' "$work/commands" | sort -u | while read -r name; do
	version=${name##*-}
	version=${version%.tgz}
	tar -xzf "$dist"/outrigger-chart-*.tgz -C "$work"
	sed -i "s/^version: .*/version: $version/; s/^appVersion: .*/appVersion: v$version/" "$work/outrigger/Chart.yaml"
	tar -czf "$work/files/$name" -C "$work" outrigger
	rm -r "$work/outrigger"
done
echo "correct horse battery staple" >"$work/secrets/admin-password"
echo "$TEST_POSTGRES_URL" >"$work/secrets/database-url"
openssl rand -base64 32 >"$work/secrets/secret-key"
chmod 600 "$work"/secrets/*
cat >"$work/values.yaml" <<-'YAML'
	replicas: 2
	secretName: outrigger
	settings:
	  trusted_proxies: [127.0.0.0/8]
	  admin_password_file: /run/secrets/outrigger/admin-password
	  mail: {listen: "off"}
	  notify:
	    allowed_networks: [127.0.0.0/8]
	    channel_rate: 1000000
	    channel_burst: 1000000
	    digest_above: 0
	    connections:
	      - {name: bench, kind: bitbucket-dc, base_url: "https://code.example.com", webhook_secret: webhook-secret-of-the-load-test}
YAML
# The secret that the chart names is there; its files are in $work/secrets.
ask POST /api/v1/namespaces/default/secrets '{"metadata":{"name":"outrigger"},"stringData":{"database-url":"as in the folder"}}' >/dev/null
"$work/kubelet" "$api" "$token" "$work/tls.crt" outrigger 127.0.0.1:18448 "$(ls "$dist"/outrigger-*-linux-"$(go env GOHOSTARCH)")" "$work" >"$work/kubelet.log" 2>&1 &
kubelet=$!

# helm_ runs a documented command, with the values above at the installation.
helm_() { # COMMAND MORE…
	command=$1
	shift
	echo "\$ $command $*"
	(cd "$work/files" && PATH="$cache:$PATH" sh -c "$command $*" >"$work/helm.log" 2>&1) || fail "$command"
}
rolled_out() { # VERSION: both pods are of it and ready
	set=$(ask GET /apis/apps/v1/namespaces/default/statefulsets/outrigger)
	echo "$set" | tr -d ' \n' | grep -q '"readyReplicas":2.*"updatedReplicas":2' || return 1
	[ "$(ask GET /api/v1/namespaces/default/pods | grep -c "\"image\": \"images.example.com/outrigger:v$1\"")" = 2 ]
}
install=$(grep '^helm install' "$work/commands")
upgrade=$(grep '^helm upgrade' "$work/commands")
first=$(sed -n "s/^helm install.*outrigger-chart-\([0-9.]*\)\.tgz.*/\1/p" "$work/commands")
second=$(sed -n "s/^helm upgrade.*outrigger-chart-\([0-9.]*\)\.tgz.*/\1/p" "$work/commands")
helm_ "$install" --values "$work/values.yaml"
await "it does not come up" rolled_out "$first"
await "the service has no endpoint" curl -fsS http://127.0.0.1:18448/readyz

# under_load VERSION COMMAND… replaces the nodes while webhooks come in.
under_load() {
	version=$1
	shift
	"$work/load" 127.0.0.1:18448 off 127.0.0.1:1 "$work/secrets/admin-password" >"$work/load.log" 2>&1 &
	load=$!
	await "the load does not run" grep -q running "$work/load.log"
	sleep 2
	helm_ "$@"
	await "it is not rolled out" rolled_out "$version"
	sleep 3
	kill "$load"
	wait "$load" || fail "under load"
	cat "$work/load.log"
}
say "upgraded, under load"
under_load "$second" "$upgrade"
say "back to the version before, under load"
under_load "$first" "helm rollback outrigger"

say "what the nodes did"
cat "$work/kubelet.log"
! grep -q 'was killed' "$work/kubelet.log" || fail "a node did not end in its time"
kill "$kubelet"
wait "$kubelet" || fail "a node ended by itself"
kubelet=
echo "the chart holds"
