#!/bin/bash
# The steps of try-out.sh, within the Debian.
set -Eeuo pipefail
trap 'echo "Failed at line $LINENO: $BASH_COMMAND"' ERR
pages=/opt/rapport/docs/operations

step() { printf '\n=== %s (%s)\n' "$*" "$(date -u +%T)"; }

# blocks PAGE [FIRST [LAST]]: the commands of its blocks, without their indentation.
blocks() {
  awk -v first="${2:-1}" -v last="${3:-99}" '
    /^ *```bash$/ { inside = 1; number++; indent = index($0, "`"); next }
    /^ *```$/ { inside = 0; next }
    inside && number >= first && number <= last { print substr($0, indent) }' "$1"
}

# As an operator pastes them: one shell for a page.
follow() { blocks "$@" | sed 's#git clone your-clone#git clone /srv/rapport#' | bash -euxo pipefail; }

prometheus() { curl -sf --get "localhost:9090/api/v1/$1" "${@:2}"; }

# until SECONDS COMMAND…: waits for it to succeed.
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || { echo "Not within time: $*"; exit 1; }
    sleep 2
  done
}

is_scraped() {
  prometheus query --data-urlencode 'query=rapport_track_items_total{outcome="applied"}' |
    jq -e '.data.result[0].value[1] == "1"' > /dev/null
}

is_firing() {
  curl -s -o /dev/null -X POST localhost:8080/users/track -H "Authorization: Bearer $RAPPORT_KEY" \
    -H "Content-Type: application/json" -d '{"events": [{"external_id": "eve", "name": "e", "time": "2026-01-01"}]}' || true
  prometheus alerts | jq -e --arg name "$1" '[.data.alerts[] | select(.state == "firing").labels.alertname] | index($name)' > /dev/null
}

exported() {
  curl -sf localhost:8080/users/export/ids -H "Authorization: Bearer $RAPPORT_KEY" \
    -H "Content-Type: application/json" -d '{"external_ids": ["ada"]}' | jq -e '.users[0].custom_events[0].name == "installed"'
}

step "install.md"
follow /srv/install.md 1 1
follow /srv/install.md 2
mode=$(stat -c %a /etc/rapport/rapport.env)
[ "$mode" = 600 ]
set -a; . /etc/rapport/rapport.env; set +a
exported

step "secure.md: what the proxy lets through"
https() { curl -s --insecure --resolve engage.example.com:443:127.0.0.1 "$@"; }
[ "$(curl -s -o /dev/null -w '%{redirect_url}' -H 'Host: engage.example.com' localhost/docs)" = https://engage.example.com/docs ]
https https://engage.example.com/health/ready | jq -e ".message == \"success\""
https -D - -o /dev/null https://engage.example.com/health/live | grep -i strict-transport
# A body of 4.5 MB and a path of 49 KB get Rapport's own refusals.
head -c 4500000 /dev/zero | tr '\0' ' ' > /tmp/large
https https://engage.example.com/users/track -H "Authorization: Bearer $RAPPORT_KEY" \
  -H "Content-Type: application/json" --data-binary @/tmp/large | jq -e .message
path=$(head -c 50000 /dev/zero | tr '\0' a)
https "https://engage.example.com/$path" | jq -e .message
# What the caller claims as its address does not count.
https -o /dev/null -X POST https://engage.example.com/admin/v1/apply -H "Authorization: Bearer $ADMIN_TOKEN" \
  -H 'X-Forwarded-For: 203.0.113.9' -H "Content-Type: application/json" \
  -d '{"company": {"name": "Acme"}, "workspaces": [{"name": "demo", "settings": {"keep_events_days": 400}}]}'
curl -s "localhost:8080/admin/v1/audit?limit=5" -H "Authorization: Bearer $ADMIN_TOKEN" > /tmp/audit
jq -e '[.entries[].address] | index("203.0.113.9") == null and index("127.0.0.1") != null' /tmp/audit
# An export comes through, as a stream.
https "https://engage.example.com/admin/v1/workspaces/demo/export/users" -H "Authorization: Bearer $ADMIN_TOKEN" | grep -q ada

step "configure.md"
echo LIVE_REQUESTS=100 >> /etc/rapport/rapport.env
follow $pages/configure.md
# The stream of live requests comes through at once, before it ends.
https -N --max-time 5 "https://engage.example.com/admin/v1/workspaces/demo/requests/stream" \
  -H "Authorization: Bearer $ADMIN_TOKEN" > /tmp/stream || true
grep connected /tmp/stream

step "metrics.md"
follow $pages/metrics.md
curl -sf localhost:8080/users/track -H "Authorization: Bearer $RAPPORT_KEY" -H "Content-Type: application/json" \
  -d '{"events": [{"external_id": "ada", "name": "watched", "time": "2026-01-02T00:00:00Z"}]}'
until_true 60 is_scraped

step "The server is killed"
before=$(systemctl show --property MainPID --value rapport)
kill -9 "$before"
until_true 30 curl -sf -o /dev/null localhost:8080/health/ready
[ "$(systemctl show --property MainPID --value rapport)" != "$before" ]
systemctl show --property NRestarts rapport
exported

step "backup.md: back up"
follow $pages/backup.md 1 1

step "The database stops"
systemctl stop postgresql
until_true 60 bash -c 'curl -s localhost:8080/health/ready | tee /tmp/ready | grep -q "does not respond"'
cat /tmp/ready; echo
until_true 900 is_firing RapportServerErrors
prometheus alerts | jq -c '.data.alerts[] | [.labels.alertname, .state, .annotations.summary]'

step "The database starts again"
systemctl start postgresql
until_true 60 curl -sf -o /dev/null localhost:8080/health/ready
exported

step "The database is lost"
su postgres -c "psql -qc 'drop database rapport with (force)'"
until_true 60 bash -c '! curl -sf -o /dev/null localhost:8080/health/ready'
curl -s localhost:8080/health/ready; echo

step "backup.md: restore"
follow $pages/backup.md 2
exported

step "The log"
# As install.md shows it.
journalctl -u rapport -o cat | jq -R 'fromjson? // .' > /dev/null
journalctl -u rapport -o cat | jq -Rr 'fromjson? | [.level, .msg] | join(" ")' | sort | uniq -c
systemd-analyze verify /etc/systemd/system/rapport.service /etc/systemd/system/rapport-backup.*
systemd-analyze security rapport --no-pager | tail -1
systemctl list-timers --no-pager rapport-backup.timer | grep rapport-backup

step "The server stops"
systemctl stop rapport
systemctl show --property Result rapport | grep success
step "All steps succeeded"
