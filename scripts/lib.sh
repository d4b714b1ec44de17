# Shared by scripts/run and scripts/test: packages, the choice of preset, building. Sourced, not run.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Installs those of the named Debian or Ubuntu packages that are missing; without any it needs no network.
need_packages() {
  local missing=() package as_root=()
  for package in "$@"; do
    dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing, and there is no sudo: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

need_build_packages() {
  command -v dpkg >/dev/null || { say "no dpkg here: taking it that the build's packages are installed"; return; }
  need_packages g++ cmake ninja-build ccache libhdf5-dev zlib1g-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
    libgtest-dev libbenchmark-dev libopenmpi-dev openmpi-bin
}

# `cuda` where there is a CUDA compiler, else `host`; SLUICE_PRESET overrides it.
choose_preset() {
  if [ -n "${SLUICE_PRESET:-}" ]; then echo "$SLUICE_PRESET"
  elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then echo cuda; else echo host; fi
}

# build PRESET [TARGET]: configures and builds; what it prints is shown in full only if it fails.
build() {
  local log
  log="$(mktemp)"
  say "building (preset $1)"
  if ! (cd "$root" && cmake --preset "$1" && cmake --build --preset "$1" ${2:+--target "$2"}) >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "the build failed (preset $1)"
  fi
  rm -f "$log"
}
