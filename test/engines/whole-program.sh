#!/bin/sh
# A whole program in `ambit run`, in the image: it does what a client does, and tries what it is not granted. Prints what it got, then
# what is outside afterwards.
set -e
cd "$(mktemp -d /work/project.XXXX)"
mkdir -p .ambit/agents ~/.ssh
cat > .ambit/agents/coder.md <<'END'
---
sandbox: .
capabilities:
  - proc.exec: { root: live }
  - fs.read
  - fs.write
---
END
echo the key itself > ~/.ssh/id_ed25519
echo first > a.txt
echo 'grep -q second a.txt && echo all tests passed' > check.sh
cat > inside.sh <<'END'
echo second >> a.txt
sh ./check.sh
git add -A
git commit -qm 'made inside'
curl -sS -m 20 https://ungranted.example.com/ 2>&1
echo "curl: $?"
cat "$1" 2> /dev/null || echo no key
echo x > .git/hooks/pre-commit
ambit can fs.write b.txt --json > can.json && echo may write
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_write","arguments":{"path":"b.txt","content":"by a tool\n"}}}' |
  ambit mcp serve > /dev/null
cat b.txt
END
git init -q -b main
git config user.name 'A Person'
git config user.email person@example.com
git add -A
git commit -qm 'begun outside'
ambit trust --yes > /dev/null
ambit run coder -- sh inside.sh ~/.ssh/id_ed25519
echo outside
cat a.txt b.txt
git log --format=%s
ls .git/hooks/pre-commit 2> /dev/null || echo no hook
ambit log --outcome deny --json | grep -q ungranted.example.com && echo refused host in the log
ambit audit verify
ambit daemon stop
