#!/bin/sh
# Prints the path of the Chromium that the browser tests run: its headless shell
# where there is one, which draws pages by the same engine for half the processor
# time. Not the command of that name, a script that leaves it running when killed.
set -eu
shell=/usr/lib/chromium/chromium-headless-shell
[ ! -x "$shell" ] || exec echo "$shell"
command -v chromium || command -v chromium-browser || command -v google-chrome
