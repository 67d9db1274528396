#!/usr/bin/env bash
# Carries out docs/operations as a new operator would, in an empty Debian: every command as it is written there. It
# installs Rapport with PostgreSQL, nginx and Prometheus, watches the metrics, stops the database until the alert fires,
# and restores a backup. Needs root, debootstrap, Node.js and the ports 80, 443, 5432, 8080, 9090 and 9464; takes about
# a quarter of an hour.
#
# usage: test/debian/try-out.sh [folder]
set -euo pipefail
root=${1:-/var/tmp/rapport-debian}
here=$(cd "$(dirname "$0")/../.." && pwd)

if [ ! -d "$root/usr/bin" ]; then
  debootstrap --variant=minbase bookworm "$root"
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
# What the guide clones, and what no systemd does.
rm -rf "$root/srv/rapport" "$root/opt/rapport"
git clone -q --bare "$here" "$root/srv/rapport"
git -C "$here" show HEAD:docs/operations/install.md > "$root/srv/install.md"
install -m 0755 "$here/test/debian/systemctl" "$root/usr/local/sbin/systemctl"
install -m 0755 "$here/test/debian/steps.sh" "$root/srv/steps.sh"

exec unshare --mount --pid --fork --kill-child bash -euc "
  mount -t proc proc '$root/proc'
  mount --rbind /dev '$root/dev'
  exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive ${ca:+NODE_EXTRA_CA_CERTS=/srv/ca.crt} \
    chroot '$root' bash /srv/steps.sh"
