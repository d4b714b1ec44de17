# Functions of scripts/run and scripts/test: packages, the choice of a preset, building. Sourced, not run.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Installs the missing ones of the named Debian or Ubuntu packages; if none is missing, it needs no network.
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

# Prints `cuda` if there is a CUDA compiler, otherwise `host`; SLUICE_PRESET overrides it.
choose_preset() {
  if [ -n "${SLUICE_PRESET:-}" ]; then echo "$SLUICE_PRESET"
  elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then echo cuda; else echo host; fi
}

# The preset for users of Sluice: without a GPU, compiling GPU code would waste minutes.
choose_run_preset() {
  if [ -n "${SLUICE_PRESET:-}" ]; then echo "$SLUICE_PRESET"
  elif [ -e /dev/nvidiactl ] || nvidia-smi -L >/dev/null 2>&1; then choose_preset; else echo host; fi
}

# Shows the progress of ninja: on a terminal in one line that changes, otherwise in ten lines.
show_progress() {
  local line ended all=0 total=0 shown=0 columns
  columns="$(tput cols 2>/dev/null || echo 80)"
  while IFS= read -r line; do
    [[ "$line" =~ ^\[([0-9]+)/([0-9]+)\]\ [^R] ]] || continue  # CMake's own run is counted, too
    ended="${BASH_REMATCH[1]}" all="${BASH_REMATCH[2]}"
    if [ -t 2 ]; then
      printf '\r\033[K%s' "${line:0:columns-1}" >&2
      continue
    fi
    [ "$all" -eq "$total" ] || total="$all" shown=0
    [ $((ended * 10 / all)) -le "$shown" ] || say "  $ended of $all steps"
    shown=$((ended * 10 / all))
  done
  if [ -t 2 ] && [ "$all" -gt 0 ]; then printf '\r\033[K' >&2; fi
}

# build PRESET [TARGET]: configures and builds; its output is shown in full only if it fails.
build() {
  local log
  log="$(mktemp)"
  say "building (preset $1)"
  if ! (cd "$root" && cmake --preset "$1" && cmake --build --preset "$1" ${2:+--target "$2"}) 2>&1 |
    tee "$log" | show_progress; then
    cat "$log" >&2
    rm -f "$log"
    die "the build failed (preset $1)"
  fi
  rm -f "$log"
}
