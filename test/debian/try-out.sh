#!/usr/bin/env bash
# Carries out docs/operations as a new operator would, in an empty Debian that systemd boots: every command as it is
# written there. It installs Rapport with PostgreSQL, nginx and Prometheus, kills the server, watches the metrics, stops the
# database until the alert fires, and restores a backup. Needs root, debootstrap, systemd-nspawn (systemd-container), Node.js
# and the ports 80, 443, 5432, 8080, 9090 and 9464; takes about ten minutes.
#
# usage: test/debian/try-out.sh [folder]
set -euo pipefail
root=${1:-/var/tmp/rapport-debian}
here=$(cd "$(dirname "$0")/../.." && pwd)

if [ ! -d "$root/usr/bin" ]; then
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$root"
fi
# Node.js as its packages install it: Debian's own is older.
mkdir -p "$root/usr/lib/node_modules"
cp -a "$(command -v node)" "$root/usr/bin/node"
cp -a "$(dirname "$(command -v node)")/../lib/node_modules/npm" "$root/usr/lib/node_modules/"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"
ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/bin/npx"
cp /etc/resolv.conf "$root/etc/"
# A network with a certificate authority of its own.
ca=${NODE_EXTRA_CA_CERTS:-}
[ -z "$ca" ] || cp "$ca" "$root/srv/ca.crt"
# What the guide clones.
rm -rf "$root/srv/rapport" "$root/opt/rapport"
git clone -q --bare "$here" "$root/srv/rapport"
git -C "$here" show HEAD:docs/operations/install.md > "$root/srv/install.md"
install -m 0755 "$here/test/debian/steps.sh" "$root/srv/steps.sh"

# The steps are a service; its end is the end of the container, which hands over whether they succeeded.
cat > "$root/etc/systemd/system/steps.service" <<END
[Unit]
Description=The steps of docs/operations
After=network.target
SuccessAction=exit
FailureAction=exit
SuccessActionExitStatus=0
FailureActionExitStatus=1

[Service]
Type=oneshot
Environment=HOME=/root DEBIAN_FRONTEND=noninteractive ${ca:+NODE_EXTRA_CA_CERTS=/srv/ca.crt}
ExecStart=/bin/bash /srv/steps.sh
StandardOutput=append:/srv/steps.log
StandardError=append:/srv/steps.log

[Install]
WantedBy=multi-user.target
END
systemctl --quiet --root="$root" enable steps.service
systemctl --quiet --root="$root" mask console-getty.service
: > "$root/srv/steps.log"
tail -f "$root/srv/steps.log" &
trap 'kill %1' EXIT

# In the network of this machine, and known to no systemd outside.
systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit --resolv-conf=off --console=pipe > /dev/null
