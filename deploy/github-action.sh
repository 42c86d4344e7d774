#!/usr/bin/env bash
# The step of action.yml: tests of records, then the difference of authority. Ends with 0, 1 (a test or the comparison failed),
# 3 (the new policy is not valid) or 13 (an agent may do more).
set -uo pipefail

# Split at blanks on purpose: the command is several words.
read -ra command <<<"$AMBIT_COMMAND"
report=$(mktemp) || exit 1
comment=$(mktemp) || exit 1
trap 'rm -f "$report" "$comment"' EXIT

if [[ $AMBIT_BASE == -* ]]; then
  echo "the base is not a revision: $AMBIT_BASE"
  exit 1
fi

# Texts of records are printed below: no line of them is a command to the runner.
token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
echo "::stop-commands::$token"
"${command[@]}" test
tests=$?
"${command[@]}" diff "$AMBIT_BASE" HEAD >"$report" 2>&1
changed=$?
cat "$report"
echo "::$token::"

# A line that is not valid does not hide what the others grant.
widened=false
data=$("${command[@]}" diff "$AMBIT_BASE" HEAD --json 2>/dev/null)
if [[ $data == '{"widened":true'* ]]; then widened=true; fi
case $changed in
  0) title="No agent may do more than before." ;;
  13) title="**An agent may do more than before.**" ;;
  3) title="**A policy is not valid.**" ;;
  *) title="**The comparison with \`${AMBIT_BASE//\`/}\` failed.**" ;;
esac
if [[ $changed -eq 3 && $widened == true ]]; then title="$title **An agent may do more than before.**"; fi
echo "widened=$widened" >>"${GITHUB_OUTPUT:-/dev/null}"

# Indented lines are code: nothing in a record can end the block and become a link or a mention.
{
  echo "$title"
  echo
  head -c 60000 "$report" | sed 's/^/    /'
} >"$comment"
cat "$comment" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"

if [[ $AMBIT_COMMENT == true && -n ${AMBIT_PULL_REQUEST:-} && $changed -ne 0 ]]; then
  gh pr comment "$AMBIT_PULL_REQUEST" --body-file "$comment" ||
    echo "::warning::ambit could not comment: a pull request from a fork has a token that cannot write"
fi

if [[ $changed -eq 13 && $AMBIT_ALLOW_WIDENING == true ]]; then changed=0; fi
if [[ $changed -ne 0 ]]; then exit "$changed"; fi
exit "$tests"
