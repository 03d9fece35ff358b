#!/bin/sh
# The lists of parts against the schema of CycloneDX, by the project's own library:
# packaging/test/parts.sh FILE.cdx.json…
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$@"; do cp "$file" "$work/"; done
cd "$work"
npm install --silent --no-audit --no-fund @cyclonedx/cyclonedx-library@10 ajv@8 ajv-formats@3 ajv-formats-draft2019@1
cat >check.mjs <<'JS'
import { Validation } from '@cyclonedx/cyclonedx-library'
import fs from 'fs'
for (const file of fs.readdirSync('.').filter(f => f.endsWith('.cdx.json'))) {
  const wrong = await new Validation.JsonStrictValidator('1.6').validate(fs.readFileSync(file, 'utf8'))
  console.log(file, wrong ?? 'valid')
  if (wrong) process.exitCode = 1
}
JS
node check.mjs
