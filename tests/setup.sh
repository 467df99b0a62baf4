#!/bin/sh
# Installs the missing Debian packages that the tests need, and a Python environment.
set -eu
cd "$(dirname "$0")/.."

lacking=
for package in alire apache2-bin chromium curl gcc git iproute2 libaunit22-dev libc6-dev libcjson-dev libfaketime \
    libmariadb-dev mariadb-client-core mariadb-server-core libpq-dev libssl-dev libreoffice-calc-nogui \
    libxml2-utils munge nginx openssh-client openssh-server openssl python3-venv rsync shellcheck slurm-client \
    slurmctld slurmd sqlite3 strace tomcat10-common util-linux valgrind libc6-dbg; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || lacking="$lacking $package"
done
# The tests of logs start servers of their own, before the subjects' requirements are installed.
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || lacking="$lacking postgresql"
# Installs Debian's Rust if there is no recent enough one, and its formatter and linter if they are missing.
minor=$(cargo --version 2>/dev/null | cut -d. -f2) || minor=
[ "${minor:-0}" -ge 88 ] || lacking="$lacking cargo-web rustc-web"
cargo fmt --version >/dev/null 2>&1 || lacking="$lacking rustfmt-web"
clippy-driver --version >/dev/null 2>&1 || lacking="$lacking rust-web-clippy"
if [ -n "$lacking" ]; then
    if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
    # No daemon is started, neither now (invoke-rc.d(8)) nor when the machine boots: the tests start their
    # own.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap '$sudo rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
        $sudo chmod +x "$policy"
    fi
    $sudo apt-get update -q
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends $lacking
    for service in munge:munge nginx:nginx openssh-server:ssh postgresql:postgresql slurmctld:slurmctld slurmd:slurmd; do
        case "$lacking " in *" ${service%:*} "*)
            ! command -v systemctl >/dev/null || $sudo systemctl --quiet disable "${service#*:}" ;;
        esac
    done
fi

venv=build/tests/venv
if ! cmp -s tests/requirements.txt "$venv/installed.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.txt
    cp tests/requirements.txt "$venv/installed.txt"
fi
