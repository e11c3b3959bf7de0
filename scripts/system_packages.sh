#!/bin/sh
# What tests need from the system: a browser and PostgreSQL for the web server, TeX for LaTeX. Installs what is missing where it may,
# says in one line what to do where it may not, and never fails: tests that lack a program say so themselves.
set -u

have_browser() { [ -n "${ADJUDGE_CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1; }
have_postgres() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; }
# booktabs, geometry and caption, fonts that are no pictures, and LuaLaTeX beside pdfLaTeX
have_tex() { command -v lualatex >/dev/null 2>&1 && kpsewhich lmodern.sty booktabs.sty >/dev/null 2>&1; }

missing=""
have_browser || missing="chromium"
have_postgres || missing="${missing:+$missing }postgresql"
have_tex || missing="${missing:+$missing }texlive-latex-recommended texlive-luatex lmodern"
[ -z "$missing" ] && exit 0

if [ "$(uname)" = Darwin ]; then
  formulas=$(echo "$missing" | sed 's/chromium/--cask chromium/; s/texlive-.*lmodern/--cask basictex/')
  echo "Tests want more: brew install $formulas" >&2
  exit 0
fi

if [ "$(id -u)" = 0 ]; then as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root="sudo -n"
else as_root="no"
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$as_root" = no ]; then
  echo "Tests want more; as root: apt-get install --no-install-recommends $missing (or what your system calls it)" >&2
  exit 0
fi

echo "Installing $missing with apt-get, which tests need"
install() {
  # shellcheck disable=SC2086 # several packages are several words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null 2>&1
}
# A list of packages may be there already, and fetching one takes a while.
install || { $as_root apt-get update -qq >/dev/null 2>&1; install; } ||
  echo "apt-get could not install $missing; tests that need it are skipped" >&2
exit 0
